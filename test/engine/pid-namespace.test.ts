/** Owners in another PID namespace over one file, like containers that share a home. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Failure } from "../../src/base/failure.ts";
import { createLocalEngine } from "../../src/engine/local-engine.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { unless } from "../needs.ts";

const OWNER = fileURLToPath(new URL("./lasting-owner.js", import.meta.url));
const UNSHARE = ["--pid", "--fork", "--kill-child", "--mount-proc"];

const canUnshare = spawnSync("unshare", [...UNSHARE, "true"]).status === 0;
const held = unless(canUnshare ? undefined : "`unshare --pid` is not allowed here");

describe("a run that a process of another PID namespace owns", () => {
  it(...held("is not taken over while it beats"), async () => {
    const folder = mkdtempSync(join(tmpdir(), "offshoot-namespace-"));
    const path = join(folder, "runs.db");
    // Uses up some numbers, so that its own differs from this machine's first process.
    const words = ["sh", "-c", '(:); (:); "$@"; exit', "sh", process.execPath, OWNER, path, "r1"];
    const stdio = ["ignore", "pipe", "inherit"] as const;
    const child = spawn("unshare", [...UNSHARE, ...words], { stdio: [...stdio] });
    const exited = once(child, "exit");
    await once(child.stdout, "data");
    const engine = createLocalEngine({ store: await openSqliteStore(path) });
    engine.define("wait", () => new Promise(() => {}));
    try {
      assert.deepEqual(await engine.start(), []);
      await assert.rejects(
        engine.resume("r1"),
        (thrown) => thrown instanceof Failure && thrown.code === "conflict",
      );
      assert.equal((await engine.status("r1"))?.epoch, 1);
    } finally {
      child.kill("SIGKILL");
      await exited;
      await engine.stop();
      rmSync(folder, { recursive: true });
    }
  });
});
