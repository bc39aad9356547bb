/** With plain files in place of the system's: the requests to it, and the reading of its answers. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  findGroupParent,
  type GroupFiles,
  openControlGroup,
} from "../../../src/tools/sandbox/control-group.ts";

const TOTALS = { memoryBytes: 1024 ** 3, diskBytes: 1, entries: 1, tasks: 512 };

function createGroups(own: string, controllers: string): GroupFiles & Disposable {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-groups-"));
  const mount = join(folder, "cgroup");
  mkdirSync(join(mount, "app.slice/app.scope"), { recursive: true });
  writeFileSync(join(mount, "app.slice/cgroup.subtree_control"), `${controllers}\n`);
  writeFileSync(join(folder, "own"), own);
  return {
    mount,
    own: join(folder, "own"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

describe("a control group", () => {
  const rows: readonly [why: string, own: string, controllers: string, isFound: boolean][] = [
    [
      "beside this process's own, with both limits",
      "0::/app.slice/app.scope\n",
      "cpu memory pids",
      true,
    ],
    ["not where processes are not limited", "0::/app.slice/app.scope\n", "memory", false],
    ["not in the first version", "4:memory:/app.slice/app.scope\n", "memory pids", false],
    ["not at the top, which holds processes", "0::/\n", "memory pids", false],
    ["not outside its namespace", "0::/../app.slice/app.scope\n", "memory pids", false],
  ];
  for (const [why, own, controllers, isFound] of rows) {
    it(`is made ${why}`, async () => {
      using files = createGroups(own, controllers);
      const parent = await findGroupParent(files);
      assert.equal(parent, isFound ? join(files.mount, "app.slice") : undefined);
    });
  }

  it("limits memory and processes, is joined by commands, and reports what was ended for memory", async () => {
    using files = createGroups("0::/app.slice/app.scope\n", "memory pids");
    const group = await openControlGroup(TOTALS, files);
    assert.ok(group);
    const slice = join(files.mount, "app.slice");
    const [name = ""] = readdirSync(slice).filter((one) => one.startsWith("offshoot-"));
    const read = (file: string): string => readFileSync(join(slice, name, file), "utf8");
    assert.deepEqual(["memory.max", "pids.max", "memory.oom.group", "memory.swap.max"].map(read), [
      String(1024 ** 3),
      "512",
      "1",
      "0",
    ]);
    assert.match(read("cgroup.procs"), /^\d+\n$/);
    assert.deepEqual(group.join(["echo", "a b"]).slice(-3), [
      join(slice, name, "cgroup.procs"),
      ...["echo", "a b"],
    ]);
    assert.equal(group.takeExcess(), undefined);
    writeFileSync(join(slice, name, "memory.events"), "oom 1\noom_kill 2\n");
    assert.equal(group.takeExcess()?.of, "memory");
    assert.equal(group.takeExcess(), undefined);
    await group.close();
    assert.equal(read("cgroup.kill"), "1");
  });
});
