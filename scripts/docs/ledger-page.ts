/** The page about the record's tables. */

import { EXAMPLE_QUERIES, TABLE_DOCS } from "../../src/store/schema-docs.ts";
import { renderFence, renderPage, renderTable } from "./page.ts";

export function renderLedgerPage(): string {
  const tables = Object.entries(TABLE_DOCS).flatMap(([name, { summary, columns }]) => [
    `## ${name}`,
    summary,
    renderTable(
      ["column", ""],
      Object.entries(columns).map(([column, meaning]) => [`\`${column}\``, meaning]),
    ),
  ]);
  const examples = EXAMPLE_QUERIES.flatMap(({ title, sql }) => [
    `### ${title}`,
    renderFence("sql", sql),
  ]);
  return renderPage("The ledger", [
    renderFence(
      "console",
      "$ offshoot runs tree run_01k…\n$ offshoot runs cost --by agent\n$ offshoot runs export run_01k… > session.md\n$ sqlite3 -readonly ~/.local/share/offshoot/runs.db",
    ),
    "Every run, main or subagent, is one row and one log in one SQLite file; `offshoot config path` says where it is. The commands read nothing else, and neither need you: the tables below are meant to be asked with plain SQL, also while runs go on. Do not write to them.",
    "Times are milliseconds since 1970 in UTC. A value over 256 KB stands in `blobs`: its column is null then, and the column of the same name with `_blob` behind it says which. `run_events` sees to that by itself. A cost of null is not known, which is not the same as free. A model call that was cut has a `turn_start` and no `turn_end`, and what it cost nobody knows.",
    "## Examples",
    ...examples,
    ...tables,
  ]);
}
