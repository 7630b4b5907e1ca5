"""The documentation is run: every block of README.md and docs, page by page, and the site is built."""
