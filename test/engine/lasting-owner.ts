/** A program that owns a run which continues until a test cancels it, or kills this program. */

import { createLocalEngine } from "../../src/engine/local-engine.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

const [path = "", id = "", parent] = process.argv.slice(2);
const engine = createLocalEngine({ store: await openSqliteStore(path) });
engine.define(
  "wait",
  ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
);
await engine.submit("wait", null, { id, title: "waits", ...(parent ? { parent_id: parent } : {}) });
process.stdout.write("owned\n");
setInterval(() => {}, 60_000);
