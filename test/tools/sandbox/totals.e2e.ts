import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { measureFolder, walkFolder } from "../../../src/tools/sandbox/folder-walk.ts";
import { toMapping } from "../../../src/tools/sandbox/mapped-files.ts";
import { removeFolder } from "../../../src/tools/sandbox/private-folder.ts";
import { findDescendants } from "../../../src/tools/sandbox/process-use.ts";
import type { RunOptions } from "../../../src/tools/sandbox/run-command.ts";
import {
  type ExceededTotal,
  findExcess,
  type ResourceTotals,
} from "../../../src/tools/sandbox/totals.ts";
import { LINUX_LACK, programLack, SANDBOX_LACK, unless } from "../../needs.ts";
import { PATIENCE_MS, patience } from "../../patience.ts";
import { openTestSandbox } from "./test-sandbox.ts";

const held = unless(SANDBOX_LACK);

const MB = 1_000_000;
const TOTALS: ResourceTotals = {
  memoryBytes: 200 * MB,
  diskBytes: 20 * MB,
  entries: 500,
  tasks: 40,
};

/** Long enough for any machine: a command that exceeds a limit is ended long before. */
const patient = (): Partial<RunOptions> => ({
  timeoutMs: PATIENCE_MS,
  signal: patience(),
});

/** The kernel keeps the pages of a shared mapping when a process releases them. */
const DROPPED = `
import mmap, time
kept = []
for i in range(10):
    one = mmap.mmap(-1, 40 << 20)
    for at in range(40): one.write(b'a' * (1 << 20))
    one.madvise(mmap.MADV_DONTNEED)
    kept.append(one)
time.sleep(200)`;

/** Python keeps a descriptor of its own for each file that it maps. */
const MAPPED = `
import mmap, os, time
kept = []
for i in range(20):
    file = os.open('f', os.O_RDWR | os.O_CREAT)
    for at in range(2): os.write(file, b'a' * (1 << 20))
    kept.append(mmap.mmap(file, 2 << 20))
    os.unlink('f')
    os.closerange(3, 100)
time.sleep(200)`;

describe("the use of a command and everything that it starts", () => {
  const rows: readonly [why: string, of: ExceededTotal["of"], script: string][] = [
    [
      "memory of many processes that are small each",
      "memory",
      "for i in 1 2 3 4; do (head -c 80000000 /dev/zero; sleep 200) | tail -c 80000000 > /dev/null & done; wait",
    ],
    [
      "files that live in memory",
      "memory",
      "for folder in /tmp /var/tmp /dev/shm; do head -c 90000000 /dev/zero > $folder/a; done; sleep 200",
    ],
    ["processes", "tasks", "for i in $(seq 60); do sleep 200 & done; wait"],
    [
      "files of which none is large",
      "disk",
      "for i in $(seq 10); do head -c 5000000 /dev/zero > $i; done; sleep 200",
    ],
    [
      "a file that was removed and is still open",
      "disk",
      "exec 4> a; rm a; head -c 50000000 /dev/zero >&4; sleep 200",
    ],
    ["shared memory that no process has in its tables", "memory", `python3 -c "${DROPPED}"`],
    ["files that were removed and closed after they were mapped", "disk", `python3 -c "${MAPPED}"`],
    ["more folders than a walk should take", "disk", "seq 700 | xargs mkdir; sleep 200"],
    [
      "files of a command that ended before anybody looked",
      "disk",
      "head -c 50000000 /dev/zero > a",
    ],
  ];
  for (const [why, of, script] of rows) {
    const lack = script.startsWith("python3") ? programLack("python3") : undefined;
    it(...unless(SANDBOX_LACK ?? lack)(`is held together: ${why}`), async () => {
      await using place = await openTestSandbox("sandbox", {}, { totals: TOTALS });
      const ran = await place.sh(script, patient());
      assert.equal(ran.timedOut, false);
      assert.equal(ran.exceeded?.of, of, JSON.stringify(ran));
      assert.match(ran.exceeded?.message ?? "", /^Stopped: .* the limit of /);
    });
  }

  it(...held("is not held against it where it stays within its limits"), async () => {
    await using place = await openTestSandbox("sandbox", {}, { totals: TOTALS });
    const script = "head -c 1000000 /dev/zero > a; (sleep 1; sleep 1) & wait; echo done";
    const { stdout, exceeded } = await place.sh(script, patient());
    assert.deepEqual([stdout, exceeded], ["done\n", undefined]);
  });

  it(...held("counts shared memory that no process shows by refusing it"), async () => {
    await using place = await openTestSandbox("sandbox", {}, { totals: TOTALS });
    const { stdout } = await place.sh(
      "ipcmk -M 1000 > /dev/null 2>&1 && echo made; echo end",
      patient(),
    );
    assert.equal(stdout, "end\n");
  });
});

describe("a mapping of a file without a name", () => {
  const row = (range: string, offset: string, device: string, path: string): string =>
    `${range} rw-s ${offset} ${device} 1234                       ${path}`;

  it("is read with the numbers of the file system", () => {
    const line = row("7f00001000-7f00003000", "00001000", "103:01", "/mnt/data/f (deleted)");
    const { device, inode, endBytes, isMemory } = toMapping(line) ?? assert.fail();
    assert.deepEqual([device, inode, endBytes, isMemory], [0x10301, 1234, 0x3000, false]);
  });

  for (const path of ["/dev/zero (deleted)", "/memfd:x y (deleted)", "/SYSV00000000 (deleted)"]) {
    it(`is memory where its name is \`${path}\``, () => {
      assert.equal(toMapping(row("1000-2000", "0", "00:01", path))?.isMemory, true);
    });
  }
});

describe("findExcess", () => {
  const within = { memoryBytes: 1, tasks: 1, openBytes: 10 * MB };
  const rows: readonly [what: string, excess: ExceededTotal | undefined][] = [
    ["nothing", findExcess(TOTALS, within, { bytes: 10 * MB, entries: 500, isWhole: true })],
    [
      "the limit of 19.1 MiB",
      findExcess(TOTALS, within, { bytes: 11 * MB, entries: 1, isWhole: true }),
    ],
    ["the limit of 500", findExcess(TOTALS, undefined, { bytes: 1, entries: 501, isWhole: true })],
    [
      "folders that cannot be read",
      findExcess(TOTALS, undefined, { bytes: 1, entries: 1, isWhole: false }),
    ],
    ["the limit of 40", findExcess(TOTALS, { ...within, tasks: 41 }, undefined)],
    ["the limit of 190.7 MiB", findExcess(TOTALS, { ...within, memoryBytes: 201 * MB }, undefined)],
  ];
  for (const [what, excess] of rows) {
    it(`names ${what}`, () => {
      assert.ok(what === "nothing" ? excess === undefined : excess?.message.includes(what));
    });
  }
});

describe("walkFolder", () => {
  const make = (): string => mkdtempSync(join(tmpdir(), "offshoot-walk-"));

  it("lets other work run between turns, however many entries there are", async () => {
    const root = make();
    execFileSync("/bin/sh", ["-c", "seq 1000 | xargs touch"], { cwd: root });
    let turns = 0;
    const count = (): void => {
      turns++;
      turner = setImmediate(count);
    };
    let turner = setImmediate(count);
    let seen = 0;
    const end = await walkFolder(root, () => ++seen > 0);
    clearImmediate(turner);
    assert.deepEqual([end, seen], ["all", 1000]);
    assert.ok(turns >= 4, `${turns} turns`);
    await removeFolder(root);
  });

  it("stops if its visitor has enough", async () => {
    const root = make();
    execFileSync("/bin/sh", ["-c", "seq 150 | xargs touch"], { cwd: root });
    const { entries } = await measureFolder(root, {
      bytes: Number.POSITIVE_INFINITY,
      entries: 100,
    });
    assert.equal(entries, 101);
    await removeFolder(root);
  });

  it("counts a file with two names once, and not the holes in it", async () => {
    const root = make();
    writeFileSync(join(root, "a"), Buffer.alloc(1 * MB, 1));
    linkSync(join(root, "a"), join(root, "b"));
    writeFileSync(join(root, "hole"), "");
    truncateSync(join(root, "hole"), 1000 * MB);
    const { bytes } = await measureFolder(root, { bytes: 10 * MB, entries: 10 });
    assert.ok(bytes >= 1 * MB && bytes < 2 * MB, String(bytes));
    rmSync(root, { recursive: true });
  });

  it("reports folders that it could not read, which are removed nevertheless", async () => {
    const root = make();
    const chain = Array(15).fill("n".repeat(200)).join("/");
    for (const name of ["one", "two"]) mkdirSync(join(root, name, chain), { recursive: true });
    renameSync(join(root, "two"), join(root, "one", chain, "two"));
    const { isWhole } = await measureFolder(root, { bytes: 100 * MB, entries: 1000 });
    assert.equal(isWhole, false);
    await removeFolder(root);
    assert.throws(() => mkdirSync(join(root, "x")), { code: "ENOENT" });
  });
});

describe("findDescendants", () => {
  it(...unless(LINUX_LACK)("finds children of children"), async () => {
    const script = "sh -c 'sleep 200 & echo up; wait' & wait";
    const child = spawn("/bin/sh", ["-c", script], {
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    try {
      await once(child.stdout, "data");
      assert.equal(findDescendants(child.pid ?? 0).length, 3);
    } finally {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    }
  });
});
