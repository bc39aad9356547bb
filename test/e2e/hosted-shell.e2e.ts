/** A real hosted shell: what its commands learn about the server, and what they may use of the machine. */

import assert from "node:assert/strict";
import { existsSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, it } from "node:test";
import { createIds } from "../../src/base/ids.ts";
import { listContainerFiles } from "../../src/responses/containers/container-files.ts";
import { createOpenShell } from "../../src/responses/containers/open-shell.ts";
import type { ShellRan } from "../../src/responses/containers/run-shell.ts";
import type { KindRequest } from "../../src/responses/kinds/tool-kind.ts";
import { createMemoryShelf } from "../../src/store/memory/memory-shelf.ts";
import { limitShelf } from "../../src/store/quota-shelf.ts";
import type { Shelf } from "../../src/store/shelf.ts";
import { createManualClock } from "../../src/testing/manual-clock.ts";
import { ToolOutput } from "../../src/tools/tool.ts";
import { SANDBOX_LACK, unless } from "../needs.ts";
import { createWorkspaceFolder, toContext } from "../tools/workspace-folder.ts";

const held = unless(SANDBOX_LACK);

const LIMITS = { timeout: 300_000 };
const AUTO = { type: "shell", environment: { type: "container_auto" } } as const;

/** The environment of a server whose user, home and programs a client must not learn. */
const ENV = {
  PATH: `/opt/secret-tools/bin:${process.env["PATH"]}`,
  HOME: process.env["HOME"],
  USER: "operator",
  LOGNAME: "operator",
  TZ: "Antarctica/Troll",
  SHELL: "/bin/secret-shell",
};

interface Shell {
  readonly shelf: Shelf;
  run(...commands: string[]): Promise<{ output: readonly ShellRan[]; notes: readonly string[] }>;
}

async function withShell(use: (shell: Shell) => Promise<void>, quota?: number): Promise<void> {
  const clock = createManualClock(1_790_000_000_000);
  const shelf = limitShelf(createMemoryShelf(), async () => quota);
  const signal = AbortSignal.timeout(LIMITS.timeout);
  const request: KindRequest = {
    tenant: "t",
    runId: "run_1",
    include: new Set(),
    catalogue: [],
    signal,
  };
  const parts = { shelf, clock, makeId: createIds(clock), level: "sandbox", env: ENV } as const;
  const { tool } = await createOpenShell(parts)(AUTO, request);
  using folder = createWorkspaceFolder({});
  const context = await toContext(folder.root, signal);
  try {
    await use({
      shelf,
      async run(...commands) {
        const input = tool.parse({ commands, timeout_ms: 200_000 } as never);
        const returned = await tool.run(input, context);
        assert.ok(returned instanceof ToolOutput);
        return { notes: [], ...(returned.value as object) } as never;
      },
    });
  } finally {
    await context.scope.close();
  }
}

interface Mount {
  /** The mounted path in its file system. */
  readonly root: string;
  readonly place: string;
  readonly type: string;
  readonly line: string;
}

/** In the form of proc(5); spaces are octal numbers. */
function toMount(line: string): Mount {
  const fields = line.split(" ");
  const [root = "", place = ""] = fields
    .slice(3, 5)
    .map((field) =>
      field.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8))),
    );
  return { root, place, type: fields[fields.indexOf("-") + 1] ?? "", line };
}

/**
 * The path of a folder of ours, and its name: hashes, which reveal nothing about the machine or the
 * process.
 */
const TEMPORARY = /^(.*)\/(offshoot-home-(?:[0-9a-f]+\.){3}[0-9a-f]+-\w{6})\/[a-z]+$/;

/** Mounts that every machine has: at the same path, of the kernel, or made for the sandbox. */
function isSystems({ root, place, type }: Mount): boolean {
  if (root === "/" || root === "/newroot" || type === "proc" || type === "devtmpfs") return true;
  return existsSync(place) && realpathSync(place).endsWith(root);
}

describe("a hosted shell", LIMITS, () => {
  it(...held("sees a made-up user, home, machine and path, and none of the server's"), async () => {
    await withShell(async ({ run }) => {
      const { output } = await run(
        "id -un; id -u; pwd; hostname; echo $HOME; ls -A ~; env | cut -d= -f1 | sort | tr '\\n' ' '",
        "cat /etc/passwd | wc -l; date +%Z; echo $PATH",
        "cat /proc/self/environ /proc/1/environ /proc/1/cmdline /proc/*/cmdline | tr '\\0' '\\n' | grep -E '[o]perator|[s]ecret-tools|[T]roll|[o]ffshoot-'",
        `ls -d ${process.env["HOME"]} 2>/dev/null; cat /etc/resolv.conf /etc/hosts 2>/dev/null`,
      );
      const [who, machine, leaks, places] = output.map(({ stdout }) => stdout);
      assert.deepEqual(
        output.map(({ outcome, stderr }) => ({ ...outcome, stderr })).slice(0, 2),
        [0, 0].map((exit_code) => ({ type: "exit", exit_code, stderr: "" })),
      );
      assert.match(who ?? "", /^user\n1000\n\/mnt\/data\ncontainer\n\/home\/user\n/);
      assert.match(who ?? "", /\bHOME LANG LOGNAME\b.*\bPATH\b.* TMPDIR USER /);
      assert.equal(
        machine,
        "3\nUTC\n/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin\n",
      );
      assert.equal(leaks, "");
      assert.equal(places, "127.0.0.1 localhost container\n::1 localhost\n");
    });
  });

  it(
    ...held("finds in its mount table no path of the server but its temporary folders"),
    async () => {
      await withShell(async ({ run }) => {
        const { output } = await run("cat /proc/self/mountinfo");
        const mounts = (output[0]?.stdout ?? "").trimEnd().split("\n").map(toMount);
        const told = new Set<string>();
        for (const mount of mounts) {
          if (isSystems(mount)) continue;
          const [, folder = "", name = ""] = TEMPORARY.exec(mount.root) ?? assert.fail(mount.line);
          assert.ok(realpathSync(tmpdir()).endsWith(folder), mount.line);
          told.add(name);
        }
        // As docs/safety.md says: one for the files in `/mnt/data`, and one for those in place of the
        // system's.
        assert.equal(told.size, 2, [...told].join());
        const home = process.env["HOME"] ?? "/";
        for (const { place, line } of mounts) {
          assert.ok(home === "/" || !place.startsWith(home), line);
          assert.ok(!place.startsWith(process.cwd()), line);
        }
      });
    },
  );

  it(
    ...held("is held to its container's memory, by each process and by all together"),
    async () => {
      await withShell(async ({ run }) => {
        const { output } = await run(
          "ulimit -d; echo kept > kept.txt",
          "for i in 1 2 3 4 5 6; do (head -c 250000000 /dev/zero; sleep 200) | tail -c 250000000 > /dev/null & done; wait",
          "echo never",
        );
        assert.equal(output[0]?.stdout, `${1024 * 1024}\n`);
        assert.deepEqual(output[1]?.outcome, { type: "exit", exit_code: 137 });
        assert.match(output[1]?.stderr ?? "", /used more memory together than the limit of 1 GiB/);
        assert.equal(output.length, 2);
        assert.equal((await run("cat kept.txt")).output[0]?.stdout, "kept\n");
      });
    },
  );

  it(
    ...held(
      "uses no more of the disk than its tenant may keep, and continues with the files from before",
    ),
    async () => {
      await withShell(async ({ run, shelf }) => {
        await run("echo kept > kept.txt");
        const { output, notes } = await run(
          "echo other > other.txt; for i in $(seq 60); do head -c 1000000 /dev/zero > $i; done; sleep 200",
        );
        assert.match(output[0]?.stderr ?? "", /took more of the disk than the limit of/);
        assert.match(notes.join(), /was not kept/);
        assert.equal((await run("ls")).output[0]?.stdout, "kept.txt\n");
        const names = await listContainerFiles(shelf, { tenant: "t", containerId: "cntr_1" });
        assert.deepEqual(
          names.map(({ path }) => path),
          ["kept.txt"],
        );
      }, 1_000_000);
    },
  );

  it(...held("is ended with all that it started when it runs too many processes"), async () => {
    await withShell(async ({ run }) => {
      const { output } = await run("for i in $(seq 900); do sleep 200 & done; wait");
      assert.match(
        output[0]?.stderr ?? "",
        /more processes and threads at once than the limit of 512/,
      );
    });
  });
});
