import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeSessions } from "./sessions-contract.ts";

describeSessions("a record in memory", async () => undefined);

describeSessions("SQLite", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "runs.db");
});
