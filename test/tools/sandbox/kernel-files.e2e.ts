/**
 * What commands in the sandbox can do to the machine through files of the kernel, as root and as another
 * user.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { bubblewrapArguments } from "../../../src/tools/sandbox/bubblewrap.ts";
import { viewLinux } from "../../../src/tools/sandbox/linux-view.ts";
import { findKernelFiles } from "../../../src/tools/sandbox/open-bubblewrap.ts";
import { findProgram } from "../../../src/tools/sandbox/programs.ts";
import { SANDBOX_LACK, unless } from "../../needs.ts";
import { openTestSandbox } from "./test-sandbox.ts";

const held = unless(SANDBOX_LACK);

/** Opens everything for writing except a process's own files and the workspace, and closes it again. */
const TRY_ALL = `
const { constants, closeSync, lstatSync, openSync, readdirSync } = require("node:fs");
const opened = [];
const look = (folder, depth) => {
  let names = [];
  try { names = readdirSync(folder); } catch { return; }
  for (const name of names) {
    const path = folder === "/" ? "/" + name : folder + "/" + name;
    if (/^\\/proc\\/(\\d+|self|thread-self)$/.test(path)) continue;
    let stats;
    try { stats = lstatSync(path); } catch { continue; }
    if (stats.isDirectory()) { if (depth > 0) look(path, depth - 1); continue; }
    if (stats.isSymbolicLink()) continue;
    try {
      closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY));
      opened.push(path);
    } catch {}
  }
};
for (const folder of ["/proc", "/sys", "/dev"]) look(folder, 6);
look("/", 0);
console.log(opened.sort().join("\\n"));
`;

/** They contain nothing, or belong to the command's own terminal. */
const HARMLESS = [
  "/dev/full",
  "/dev/null",
  "/dev/pts/ptmx",
  "/dev/random",
  "/dev/tty",
  "/dev/urandom",
  "/dev/zero",
];

const EXTERNAL = [
  ...["/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/key-users"],
  ...[
    "/proc/timer_list",
    "/proc/kallsyms",
    "/proc/irq/default_smp_affinity",
    "/proc/bus/pci/devices",
  ],
  ...["/proc/fs/ext4", "/sys/kernel", "/sys/firmware"],
];

describe("files of the kernel in the sandbox", () => {
  it(...held("cannot be opened for writing by the user that runs it"), async () => {
    await using place = await openTestSandbox("sandbox", { "root/try.cjs": TRY_ALL });
    const { stdout, stderr } = await place.sh("node try.cjs");
    assert.equal(stderr, "");
    assert.deepEqual(beyond(stdout), []);
  });

  it(...held("cannot be opened for writing by a user that is not root"), async () => {
    // If this process is not root, the test before this one was enough.
    if (process.getuid?.() !== 0) return;
    assert.deepEqual(beyond(runAsNobody()), []);
  });

  it(
    ...held("show nothing of other users, of the machine's memory or of its devices"),
    async () => {
      await using place = await openTestSandbox("sandbox");
      for (const path of EXTERNAL) {
        const { stdout } = await place.sh(
          `head -c 100 ${path} 2>/dev/null || ls ${path}/ 2>/dev/null`,
        );
        assert.equal(stdout, "", path);
      }
    },
  );

  it(...held("still tell programs what they ask for"), async () => {
    await using place = await openTestSandbox("sandbox");
    const { stdout, exitCode } = await place.sh(
      "cat /proc/cpuinfo /proc/meminfo /proc/self/status /proc/sys/kernel/pid_max > /dev/null && ls /proc/self/fd > /dev/null && echo fine",
    );
    assert.deepEqual([stdout, exitCode], ["fine\n", 0]);
  });

  it(...held("leave no room in memory beside the folders that have a limit"), async () => {
    await using place = await openTestSandbox("sandbox");
    const folders = ["/", "/dev", "/etc", "/var", "/run", "/proc", "/mnt"];
    const { stdout } = await place.sh(
      `for folder in ${folders.join(" ")}; do echo x 2>/dev/null > $folder/new && echo $folder; done; echo x > /dev/shm/x && echo x > /tmp/x && echo fine`,
    );
    assert.equal(stdout, "fine\n");
  });

  it("are covered unless they are known to be harmless, links and processes are left alone", () => {
    const folder = mkdtempSync(join(tmpdir(), "offshoot-proc-"));
    try {
      for (const name of ["12", "sys", "bus", "tty"]) mkdirSync(join(folder, name));
      for (const name of ["cpuinfo", "of-the-future"]) writeFileSync(join(folder, name), "");
      symlinkSync("12", join(folder, "self"));
      assert.deepEqual(findKernelFiles(folder), {
        readOnly: ["/proc/sys"],
        hidden: [
          { path: "/proc/bus", isFolder: true },
          { path: "/proc/of-the-future", isFolder: false },
        ],
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

function beyond(stdout: string): string[] {
  return stdout.split("\n").filter((path) => path !== "" && !HARMLESS.includes(path));
}

/** The same view as root's commands get, entered by the user that owns nothing. */
function runAsNobody(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "offshoot-nobody-")));
  try {
    writeFileSync(join(root, "try.cjs"), TRY_ALL);
    chmodSync(root, 0o755);
    chownSync(root, 65534, 65534);
    const view = viewLinux({
      root,
      home: undefined,
      path: "/usr/bin:/bin",
      isWritable: true,
      hasNetwork: false,
      covers: { hidden: [], readOnly: [] },
      options: [],
      kernel: findKernelFiles(),
      isFiltered: false,
    });
    const node = realpathSync(process.execPath);
    const seen = { ...view, files: [...view.files, [node, "/node"] as const] };
    const before = bubblewrapArguments(seen, { cwd: root, reads: [], writes: [] });
    const program = findProgram("bwrap", process.env["PATH"] ?? "", "/") ?? "";
    return execFileSync(program, [...before, "--", "/node", "try.cjs"], {
      uid: 65534,
      gid: 65534,
      encoding: "utf8",
      env: {},
      cwd: "/",
    });
  } finally {
    rmSync(root, { recursive: true });
  }
}
