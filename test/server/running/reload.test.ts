import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createReloader, watchFiles } from "../../../src/server/running/reload.ts";
import { createManualClock } from "../../../src/testing/index.ts";
import { createGate, settle } from "../../engine/engine-fixture.ts";
import { untilTrue } from "../../patience.ts";

describe("new settings", () => {
  it("are looked for when a file changes, appears or goes", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "offshoot-reload-"));
    t.after(() => rm(folder, { recursive: true }));
    const file = join(folder, "a");
    const other = join(folder, "b");
    await writeFile(file, "one");
    const clock = createManualClock();
    let heard = createGate();
    const watch = watchFiles(clock, async () => heard.open());
    t.after(() => watch.close());
    await watch.set([file, other]);
    const changes = [() => writeFile(file, "longer"), () => writeFile(other, ""), () => rm(other)];
    for (const change of changes) {
      heard = createGate();
      await change();
      await untilTrue(() => clock.sleeping === 1, "the wait before the next look");
      await clock.advance(1000);
      await heard.opened;
    }
  });

  it("are read one after the other, and of those that wait once", async () => {
    const gates = [createGate(), createGate(), createGate()];
    let started = 0;
    const reload = createReloader(async () => await gates[started++]?.opened);
    const all = [reload(), reload(), reload(), reload()];
    assert.equal(started, 1);
    gates[0]?.open();
    await settle();
    assert.equal(started, 2);
    gates[1]?.open();
    await Promise.all(all);
    assert.equal(started, 2);
  });
});
