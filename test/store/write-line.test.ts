/** Which writes are joined into one transaction. Real time passes here; nothing depends on how much. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { toResolvers } from "../../src/base/async.ts";
import { systemClock } from "../../src/base/clock.ts";
import { type Disk, NO_DISK, openWalDisk } from "../../src/store/sqlite/wal-disk.ts";
import { createWriteLine, type Durability } from "../../src/store/sqlite/write-line.ts";

/** A disk that is done when the test says so. */
class HeldDisk {
  readonly syncs: { readonly done: () => void; readonly fail: (thrown: Error) => void }[] = [];
  busy: Promise<unknown> | undefined;

  sync(): Promise<void> {
    const done = new Promise<void>((resolve, reject) => {
      this.syncs.push({ done: resolve, fail: reject });
    });
    const busy = done.catch(() => {});
    this.busy = busy;
    void busy.then(() => {
      this.busy = undefined;
    });
    return done;
  }
}

function createLine(
  disk: Pick<Disk, "sync" | "busy"> = NO_DISK,
  untilIdle: (() => Promise<void>) | undefined = undefined,
) {
  const groups: string[][] = [];
  let group: string[] = [];
  const inLine = createWriteLine({
    clock: systemClock,
    transact(work) {
      group = [];
      groups.push(group);
      return work();
    },
    attempt: (work) => ({ value: work() }),
    disk,
    ...(untilIdle && { untilIdle }),
  });
  const write = <Out>(durability: Durability, work: () => Out): Promise<Out> =>
    inLine(durability, () => {
      group.push(durability);
      return work();
    });
  return { write, groups };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("the line of writers", () => {
  it("writes a single write at once", async () => {
    const { write, groups } = createLine();
    const done = write("process", () => 7);
    assert.deepEqual(groups, [["process"]]);
    assert.equal(await done, 7);
  });

  it("joins writes that keep coming one by one, and writes all of them", async () => {
    const { write, groups } = createLine();
    const tokens = 400;
    const written: Promise<number>[] = [];
    for (let at = 0; at < tokens; at++) {
      written.push(write("process", () => at));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(
      await Promise.all(written),
      written.map((_, at) => at),
    );
    assert.ok(groups.length < tokens, `${groups.length} transactions`);
  });

  it("does not delay a write that needs the disk for writes of tokens", async () => {
    const { write, groups } = createLine();
    const order: string[] = [];
    const tokens = Array.from({ length: 100 }, async (_, at) => {
      for (let turn = 0; turn < at; turn++) await new Promise((resolve) => setImmediate(resolve));
      await write("process", () => order.push("token"));
    });
    await Promise.all(tokens);
    const last = write("process", () => order.push("last token"));
    await write("power", () => order.push("power"));
    // It was written with the token before it, and overtook none.
    assert.deepEqual(order.slice(-2), ["last token", "power"]);
    assert.equal(groups.at(-1)?.at(-1), "power");
    await last;
  });

  it("tells a writer that needs the disk when the disk has it, and not before", async () => {
    const disk = new HeldDisk();
    const { write, groups } = createLine(disk);
    let isTold = false;
    const told = write("power", () => 1).then(() => {
      isTold = true;
    });
    await turns(5);
    assert.deepEqual([groups.length, disk.syncs.length, isTold], [1, 1, false]);
    disk.syncs[0]?.done();
    await told;
  });

  it("writes all that come while the disk is at work in one transaction, with one wait", async () => {
    const disk = new HeldDisk();
    const { write, groups } = createLine(disk);
    const first = write("power", () => 0);
    const rest: Promise<number>[] = [];
    for (let at = 1; at <= 20; at++) {
      rest.push(write("power", () => at));
      await turns(1);
    }
    assert.equal(groups.length, 1);
    disk.syncs[0]?.done();
    await first;
    await turns(5);
    assert.deepEqual([groups.length, groups[1]?.length, disk.syncs.length], [2, 20, 2]);
    disk.syncs[1]?.done();
    await Promise.all(rest);
  });

  it("joins writes that need the disk while the event loop is at work, once several came at once", async () => {
    const idle = toResolvers<void>();
    const { write, groups } = createLine(NO_DISK, () => idle.promise);
    await Promise.all([0, 1, 2].map((at) => write("power", () => at)));
    const before = groups.length;
    const written: Promise<number>[] = [];
    for (let at = 0; at < 20; at++) {
      written.push(write("power", () => at));
      await turns(2);
    }
    assert.equal(groups.length, before);
    idle.resolve();
    await Promise.all(written);
    assert.deepEqual([groups.length - before, groups.at(-1)?.length], [1, 20]);
  });

  it("does not let a token wait for the disk of others", async () => {
    const disk = new HeldDisk();
    const { write, groups } = createLine(disk);
    const first = write("power", () => 0);
    const second = write("power", () => 1);
    await turns(3);
    assert.equal(await write("process", () => 2), 2);
    assert.deepEqual(groups, [["power"], ["power", "process"]]);
    for (const sync of disk.syncs) sync.done();
    await Promise.all([first, second]);
  });

  it("fails only for the writers that needed the disk", async () => {
    const disk = new HeldDisk();
    const { write } = createLine(disk);
    const first = write("power", () => 0);
    const failed = assert.rejects(first, /i\/o/);
    const token = write("process", () => 1);
    disk.syncs[0]?.fail(new Error("i/o error"));
    await failed;
    assert.equal(await token, 1);
  });
});

describe("the disk of a WAL", () => {
  it("shares one wait among all that were committed before it began", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "offshoot-disk-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const wal = join(folder, "a.db-wal");
    writeFileSync(wal, "a page");
    const disk = openWalDisk(wal);
    const first = disk.sync();
    const [second, third] = [disk.sync(), disk.sync()];
    assert.equal(second, third);
    assert.notEqual(first, second);
    await Promise.all([first, second]);
    assert.equal(disk.busy, undefined);
    disk.close();
  });

  it("fails for a file that is not there, and is not at work afterwards", async () => {
    const disk = openWalDisk(join(tmpdir(), "offshoot-no-such-folder", "a.db-wal"));
    await assert.rejects(disk.sync(), /ENOENT/);
    assert.equal(disk.busy, undefined);
    disk.close();
  });
});
