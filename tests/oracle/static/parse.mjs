// Reads statements from standard input, one JSON text a line; writes for each what is wrong with it, one JSON list a line.

import { createInterface } from "node:readline";
import antlr4 from "antlr4";
import { PlSqlLexer, PlSqlParser } from "@griffithswaite/ts-plsql-parser";

const RULES = {
  SELECT: "select_statement",
  WITH: "select_statement",
  INSERT: "insert_statement",
  UPDATE: "update_statement",
  DELETE: "delete_statement",
  MERGE: "merge_statement",
  LOCK: "lock_table_statement",
  SAVEPOINT: "savepoint_statement",
  ROLLBACK: "rollback_statement",
  COMMIT: "commit_statement",
  CREATE: "unit_statement",
  ALTER: "unit_statement",
  DROP: "unit_statement",
  TRUNCATE: "unit_statement",
  COMMENT: "unit_statement",
  CALL: "unit_statement",
  GRANT: "unit_statement",
};
const LONGEST = 160;

function parse(text) {
  const errors = [];
  const at = (line, column, message) => errors.push(`${line}:${column + 1} ${message.slice(0, LONGEST)}`);
  const listener = {
    syntaxError: (recognizer, symbol, line, column, message) => at(line, column, message),
    reportAmbiguity() {},
    reportAttemptingFullContext() {},
    reportContextSensitivity() {},
  };
  const lexer = new PlSqlLexer(new antlr4.CharStream(text));
  const parser = new PlSqlParser(new antlr4.CommonTokenStream(lexer));
  for (const recognizer of [lexer, parser]) {
    recognizer.removeErrorListeners();
    recognizer.addErrorListener(listener);
  }
  const first = parser.getCurrentToken();
  const rule = RULES[first.text.toUpperCase()];
  if (rule === undefined) {
    at(first.line, first.column, `no statement begins with '${first.text}'`);
    return errors;
  }
  parser[rule]();
  const next = parser.getCurrentToken();
  if (next.type !== antlr4.Token.EOF) {
    at(next.line, next.column, `not understood from '${next.text}' on`);
  }
  return errors;
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(parse(JSON.parse(line))));
}
