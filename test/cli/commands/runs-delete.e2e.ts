/** Deleting and cancelling runs that another process runs, with a real one. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Failure } from "../../../src/base/failure.ts";
import { cancelRun, deleteRun } from "../../../src/cli/commands/runs-delete.ts";
import { type OpenedRecord, toOpened } from "../../../src/cli/open-record.ts";
import type { RunRecord } from "../../../src/protocol/run-record.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import type { Store } from "../../../src/store/store.ts";

const OWNER = fileURLToPath(new URL("../../engine/lasting-owner.js", import.meta.url));

interface Owned extends AsyncDisposable {
  readonly store: Store;
  readonly opened: OpenedRecord;
  /** The run that the other process runs. */
  readonly run: RunRecord;
  kill(): Promise<void>;
}

async function open(id: string, prepare?: (store: Store) => Promise<void>): Promise<Owned> {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-delete-"));
  const path = join(folder, "runs.db");
  const kept = await openKept(path);
  const store = await kept.runs();
  const opened = await toOpened(kept);
  await prepare?.(store);
  const [parent = ""] = id.includes("/") ? id.split("/") : [];
  const child = spawn(process.execPath, [OWNER, path, id, parent], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  return {
    store,
    opened,
    run: (await store.getRun(id)) as RunRecord,
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
      await opened.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const refusal = (pattern: RegExp) => (thrown: unknown) =>
  thrown instanceof Failure && thrown.code === "conflict" && pattern.test(thrown.message);

describe("deleting a run", () => {
  it("is refused while a living process runs it, and the run continues", async () => {
    await using owned = await open("r1");
    const { store, opened, run } = owned;
    await assert.rejects(
      deleteRun(opened, run, { force: false }),
      refusal(
        /^Not deleted: run r1 is still running in process \d+ on .*`offshoot runs cancel r1`/,
      ),
    );
    assert.equal((await store.getRun("r1"))?.status, "running");
  });

  it("cancels it first with --force", async () => {
    await using owned = await open("r2");
    await deleteRun(owned.opened, owned.run, { force: true });
    assert.equal(await owned.store.getRun("r2"), undefined);
  });

  it("needs no --force if its process was killed", async () => {
    await using owned = await open("r3");
    await owned.kill();
    await deleteRun(owned.opened, owned.run, { force: false });
    assert.equal(await owned.store.getRun("r3"), undefined);
  });

  it("is refused if it has ended and a subagent of it still runs", async () => {
    await using owned = await open("top/child", async (store) => {
      const parent = { id: "top", parent_id: null, path: "/root", name: "wait", input: null };
      await store.createRun({ ...parent, title: "", created_at_ms: 1 });
      await store.claim("top", "gone");
      const end = { ending: "failed", result: null, firstSeq: 0, events: [], at_ms: 2 } as const;
      await store.finish("top", 1, end);
    });
    const top = (await owned.store.getRun("top")) as RunRecord;
    await assert.rejects(
      deleteRun(owned.opened, top, { force: false }),
      refusal(/run top has a subagent, top\/child, that is still running/),
    );
    await deleteRun(owned.opened, top, { force: true });
    assert.equal(await owned.store.getRun("top/child"), undefined);
  });
});

describe("cancelling a run of another process", () => {
  it("ends it as cancelled", async () => {
    await using owned = await open("r4");
    await cancelRun(owned.opened, owned.run);
    assert.equal((await owned.store.getRun("r4"))?.ending, "cancelled");
  });
});
