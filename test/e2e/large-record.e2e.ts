/**
 * A record that is too large to be checked before the start is checked while the server answers. The size
 * that counts as large is set to zero here, so that every record is large.
 */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { checkBeside } from "../../src/store/sqlite/check-beside.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { LINUX_LACK, unless } from "../needs.ts";
import { patience, untilTrue } from "../patience.ts";
import { damage } from "../store/damaged-file.ts";
import { createPlace, type Place } from "./command.ts";
import { type Served, serve } from "./served.ts";

const ENV = { OFFSHOOT_SERVER_START_CHECK_BYTES: "0" };
const DAMAGED = { status: "not ready", reason: "store_failed" };

/** A page with file data is destroyed, which no start reads. */
async function createDamaged(): Promise<Place> {
  const place = await createPlace();
  const first = await serve({ place });
  await first.create({ input: "Hello" });
  first.command.child.kill("SIGTERM");
  await first.command.ended;
  await damage(join(place.home, ".local", "share", "offshoot", "runs.db"), "contents");
  return place;
}

async function ready({ ask }: Served): Promise<unknown> {
  return (await ask("GET", "/readyz")).body;
}

describe("a large record", () => {
  it("is checked while the server runs, which reports that it is sound", async () => {
    await using served = await serve({ env: ENV });
    await served.command.waitForStderr(/the record was checked: nothing is damaged \(.*\)\n/);
    assert.deepEqual(await ready(served), { status: "ready" });
    served.command.child.kill("SIGTERM");
    assert.equal((await served.command.ended).code, 0);
  });

  it("that is damaged makes the server not ready, and the server continues", async () => {
    await using place = await createDamaged();
    await using served = await serve({ place, env: ENV });
    await served.command.waitForStderr(/runs\.db` is damaged: .*offshoot store check/);
    assert.deepEqual(await ready(served), DAMAGED);
    assert.equal((await served.ask("GET", "/healthz")).status, 200);
    await served.create({ input: "What can be read and written is." });
    served.command.child.kill("SIGTERM");
    assert.equal((await served.command.ended).code, 0);
  });

  it("that is damaged is refused at the start if it is small", async () => {
    await using place = await createDamaged();
    const { code, stderr } = await place.run(["serve", "--port", "0", "--no-auth"]);
    assert.equal(code, 1);
    assert.match(stderr, /runs\.db` is damaged: /);
  });

  it("is not read any more after its check was stopped", async () => {
    await using place = await createPlace();
    const path = join(place.home, "runs.db");
    await (await openSqliteStore(path)).close();
    const stop = new AbortController();
    const checking = checkBeside(path, stop.signal);
    stop.abort();
    await assert.rejects(checking, { code: "cancelled" });
    assert.equal(await checkBeside(path, patience()), undefined);
  });

  it(...unless(LINUX_LACK)("is checked once for all workers, also for later ones"), async () => {
    await using place = await createDamaged();
    await using served = await serve({ place, env: ENV, args: ["--workers", "2"] });
    await served.command.waitForStderr(/runs\.db` is damaged: /);
    const isTold = async (): Promise<boolean> => {
      const answer = await served.ask("GET", "/readyz", undefined, patience());
      if (answer.status !== 503) return false;
      assert.deepEqual(answer.body, DAMAGED);
      return true;
    };
    const haveSaid = (): Set<unknown> => {
      const lines = served.lines().filter(({ status }) => status === 503);
      return new Set(lines.map(({ worker }) => worker));
    };
    await untilTrue(async () => (await isTold()) && haveSaid().size === 2, "both know it");
    const { pid } = served.command.child;
    const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
    process.kill(Number(text.trim().split(" ")[0]), "SIGKILL");
    // Some of these go to the worker that dies. The new one knows it before its first answer.
    await untilTrue(async () => {
      assert.deepEqual(await Promise.all([1, 2, 3, 4].map(isTold)), [true, true, true, true]);
      return haveSaid().size === 3;
    }, "the third one says so too");
    assert.equal(served.command.stderr.match(/is damaged/g)?.length, 1);
  });
});
