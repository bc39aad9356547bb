/** The page about the record's tables. */

import { EXAMPLE_QUERIES, TABLE_DOCS } from "../../src/store/sqlite/schema-docs.ts";
import { renderCompared, renderFence, renderPage, renderTable } from "./page.ts";

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
    "After this page you can ask what every run did and cost, with commands or with plain SQL, and look after the file that has it.",
    renderCompared("sql"),
    renderFence(
      "console",
      '$ offshoot run -m embedded "compute 6*7"\n$ offshoot runs tree run_01k…\n$ offshoot runs cost --by agent\n$ offshoot runs export run_01k… > session.md\n$ offshoot store backup runs-copy.db',
    ),
    "Every run, main or subagent, is one row and one log in one SQLite file: `runs.db` in the data folder that `offshoot config path` prints, unless the setting `store_path` names another. The commands read nothing else. You can read the tables below with plain SQL too (`sqlite3 ~/.local/share/offshoot/runs.db`), also while runs are at work. Do not write to them.",
    "Times are milliseconds since 1970 in UTC. A value over 256 KB is in `blobs`: its column is null then, and the column of the same name that ends in `_blob` says which. The text of a large value is in `parts`, one piece in each row. The view `run_events` joins both. A cost of null is not known, which is not the same as free. A model call that was interrupted has a `turn_start` and no `turn_end`; what it cost is not known.",
    ...renderCare(),
    "## Examples",
    ...examples,
    ...tables,
  ]);
}

/** Backups, power cuts, space. */
function renderCare(): string[] {
  return [
    "## Maintain the file",
    renderTable(
      ["command", "what it does"],
      [
        [
          "`offshoot store check`",
          "Reads the whole file: its structure, its indexes, and which row refers to which. Prints `ok` or what is damaged; exit code 1 if anything is",
        ],
        [
          "`offshoot store backup FILE`",
          "Writes a copy as of one moment, without free pages, for your user alone. Runs and servers continue meanwhile. An existing FILE is not overwritten",
        ],
        [
          "`offshoot store vacuum`",
          "Gives the space of deleted runs back to the disk. Writers wait meanwhile, for 30 seconds at most, so use it when the server is quiet. It needs as much free disk as the file is large",
        ],
        [
          "`offshoot store copy --to ADDRESS`",
          "Copies the record to an empty Postgres database and compares the two; see [scaling.md](scaling.md). No other process may have the file open",
        ],
      ],
    ),
    "Other programs may read the file at any time: the `sqlite3` program, Python, a database browser, `.backup`. Do not copy `runs.db` with `cp` while something uses it: the newest entries are in `runs.db-wal`. To restore a backup, stop every process that uses the store, remove `runs.db-wal` and `runs.db-shm`, and put the copy in place of `runs.db`.",
    "A server gives the space of expired and deleted responses back by itself, a little at a time, and keeps 4 MB of it for the next ones. Files that an older version made are switched to this by `offshoot store vacuum`.",
    "A server refuses a damaged file when it starts: it looks through files of up to 128 MiB (`server.start_check_bytes`) before it listens, which takes half a second at most. A larger file is looked through once by a process of low priority while the server answers, at 300 to 600 MB per second; `runs.db-wal` may grow meanwhile. Standard error has a line with the result. If the file is damaged, the server continues with what can be read and written. `/readyz` answers 503 `store_failed` until you restart the server with a sound file. Other commands report damage when they come across it. `offshoot store check` says what is damaged.",
    "A program that holds a write lock (`begin immediate`) makes writers wait, up to 30 seconds; after that they fail with `store_busy`. Readers, `/healthz` and requests that store nothing continue; `/readyz` is 503 while the lock is held for more than half a second.",
    "## What a power cut can cost",
    "When a process dies, nothing that was acknowledged is lost. When the machine loses power, it depends on how an entry was written, by SQLite's `synchronous` setting:",
    renderTable(
      ["written with", "what", "after a power cut"],
      [
        [
          "`full`",
          "New runs and responses, model answers with calls for Offshoot to make, tool results, endings, messages to runs, files, keys, deletions that a person or client asked for",
          "There, if the disk keeps what it has confirmed",
        ],
        [
          "`normal`",
          "Events between steps, the beginning of a run, model answers without such calls, the steps that put the items of a response on record before it ends (`keep`, `index`), who owns a run and whose turn it is, spending and reserved budgets, the audit, heartbeats, chunks of vector stores, removals of what has expired",
          "The last ones may be missing: those since the last entry that was written with `full`. What had expired is removed again",
        ],
      ],
    ),
    "The file is whole in both cases, because SQLite drops entries only from the end of its log: nothing is missing in the middle. So after a power cut a run continues after its last finished step that is there. An answer without calls that came in the last moment before the cut, and whose run had not ended, may be missing: the model is then asked again, and that call is paid again. The first one may also be missing in a budget.",
  ];
}
