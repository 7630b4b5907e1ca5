"""
The tables: installed, upgraded and removed in the caller's transaction, or rendered for a DBA.

Several processes may do so at once: the first one does the work, the others wait and find it done.
"""

from task_api import SchemaError

from ..registry import dialect_of
from .layout import VERSION
from .roles import ROLES, render_roles
from .scripts import migrations, removal, statements

__all__ = ["ROLES", "VERSION", "install", "render", "render_roles", "uninstall", "upgrade", "version"]


def install(connection: object, *, partitioned: bool = True, pretty: bool = True, notify: bool = True) -> None:
    """
    Create the tables, unless they are there in this version.

    Args:
        connection: A SQLAlchemy connection or session, or a driver's connection; the caller commits.
        partitioned: Give each topic a partition of its own, on databases that have them.
        pretty: Create the view ``task_pretty``.
        notify: Announce READY tasks and activations to listeners, on databases that can.

    Raises:
        SchemaError: there is a schema already, of another version or otherwise partitioned.

    """
    dialect = dialect_of(connection)
    transaction = dialect.adapt(connection)
    with dialect.migrating(transaction):
        present = dialect.installed(transaction)
        partitioned = partitioned and dialect.can_partition(transaction)
        if present is None:
            script = render(dialect.name, partitioned=partitioned, pretty=pretty, notify=notify)
            dialect.migrate(transaction, statements(script))
        elif present.version != VERSION:
            message = f"version {present.version} is installed, this code brings {VERSION}; use schema.upgrade"
            raise SchemaError(message)
        elif dialect.partitions and present.partitioned is not partitioned:
            found = "partitioned" if present.partitioned else "unpartitioned"
            message = f"the schema is installed {found}; uninstall it to change that, or install it as it is"
            raise SchemaError(message)


def upgrade(connection: object) -> int:
    """
    Bring the tables to the version that this code speaks; return that version.

    Raises:
        SchemaError: there is no schema, or it is newer than this code.

    """
    dialect = dialect_of(connection)
    transaction = dialect.adapt(connection)
    with dialect.migrating(transaction):
        present = dialect.layout(transaction)
        if present is None:
            message = "there is no schema to upgrade; use schema.install"
            raise SchemaError(message)
        if present.version > VERSION:
            message = f"the schema has version {present.version}, newer than {VERSION}, which this code speaks"
            raise SchemaError(message)
        options = _options(partitioned=present.partitioned, pretty=True, notify=present.notify, fresh=False)
        with dialect.among_tables(transaction):
            for migration in migrations(dialect.name):
                if migration.version > present.version:
                    dialect.migrate(transaction, statements(migration.render(options)))
    return VERSION


def uninstall(connection: object) -> None:
    """Remove the tables and everything in them; harmless where there are none."""
    dialect = dialect_of(connection)
    transaction = dialect.adapt(connection)
    with dialect.migrating(transaction):
        dialect.migrate(transaction, statements(removal(dialect.name)))


def version(connection: object) -> int | None:
    """Return the version of the installed schema, or None where there is none."""
    dialect = dialect_of(connection)
    layout = dialect.layout(dialect.adapt(connection))
    return None if layout is None else layout.version


def render(
    dialect_name: str,
    *,
    partitioned: bool = True,
    pretty: bool = True,
    notify: bool = True,
    since: int = 0,
) -> str:
    """Return the SQL that installs the tables, or upgrades them from version ``since``, to run as it is."""
    options = _options(partitioned=partitioned, pretty=pretty, notify=notify, fresh=not since)
    steps = [step.render(options) for step in migrations(dialect_name) if step.version > since]
    return "\n".join(steps)


def _options(**options: bool) -> dict[str, bool]:
    return options
