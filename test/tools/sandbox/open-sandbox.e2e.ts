import assert from "node:assert/strict";
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openSandbox } from "../../../src/tools/sandbox/open-sandbox.ts";
import { probeSandbox } from "../../../src/tools/sandbox/probe-sandbox.ts";
import { runCommand } from "../../../src/tools/sandbox/run-command.ts";
import { levelLack, SANDBOX_LACK, unless } from "../../needs.ts";
import { patience } from "../../patience.ts";
import { openTestSandbox, RUN_OPTIONS } from "./test-sandbox.ts";

describe("every level", () => {
  for (const level of ["none", "process", "sandbox"] as const) {
    const held = unless(levelLack(level));
    it(...held(`runs a command in the workspace and lets it write there (${level})`), async () => {
      await using place = await openTestSandbox(level, { "root/in.txt": "hello\n" });
      const { exitCode, stdout, stderr } = await place.sh("cat in.txt; pwd; echo out > out.txt");
      assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: "" });
      assert.equal(stdout, `hello\n${place.root}\n`);
      assert.equal(readFileSync(join(place.root, "out.txt"), "utf8"), "out\n");
    });

    it(...held(`runs words without a shell (${level})`), async () => {
      await using place = await openTestSandbox(level);
      const ran = await runCommand(
        place.sandbox,
        { argv: ["echo", "$HOME", "a  b", "*"], cwd: place.root },
        { ...RUN_OPTIONS, signal: patience() },
      );
      assert.equal(ran.stdout, "$HOME a  b *\n");
    });

    it(...held(`says that there is no such program (${level})`), async () => {
      await using place = await openTestSandbox(level);
      const start = place.sandbox.start({ argv: ["no-such-program"], cwd: place.root });
      await assert.rejects(start, { code: "tool_failed", message: /`no-such-program`/ });
    });

    it(
      ...held(`hands on no variable that is not on the list, and those that are named (${level})`),
      async () => {
        const env = {
          PATH: process.env["PATH"],
          HOME: process.env["HOME"],
          LC_ALL: "C",
          LC_TOKEN: "a-secret-of-some-kind",
          PLAIN: "p",
          NAMED_KEY: "named",
        };
        await using place = await openTestSandbox(level, {}, { env, names: ["NAMED_KEY"] });
        const { stdout } = await place.sh("env");
        const names = stdout.split("\n").map((line) => line.split("=", 1)[0]);
        assert.ok(names.includes("LC_ALL") && names.includes("NAMED_KEY"), stdout);
        assert.ok(!names.includes("PLAIN") && !names.includes("LC_TOKEN"), stdout);
      },
    );
  }
});

describe("the process level", () => {
  it("gives commands a home of their own, which is removed with it", async () => {
    await using place = await openTestSandbox("process", { "home/key": "secret" });
    const { stdout } = await place.sh("ls -A ~ ; echo kept > ~/kept; echo $HOME; echo $TMPDIR");
    const [home = "", temp = ""] = stdout.trim().split("\n");
    assert.ok(
      home.startsWith(join(place.outer, "temp")) && temp.startsWith(join(place.outer, "temp")),
    );
    assert.equal((await place.sh("cat ~/kept")).stdout, "kept\n");
    await place.sandbox.close();
    assert.deepEqual(readdirSync(join(place.outer, "temp")), []);
  });

  it("limits the memory of a process", async () => {
    await using place = await openTestSandbox("process");
    // Allocated and never touched: it costs nothing if it is granted.
    const code = "const held = [1, 2, 3].map(() => Buffer.alloc(2e9)); console.log(held.length)";
    const { exitCode, stdout } = await place.sh(`node -e "${code}"`);
    assert.notEqual(exitCode, 0);
    assert.equal(stdout, "");
  });

  it("limits the size of a file", async () => {
    await using place = await openTestSandbox("process");
    // A hole takes no space on the disk; only the size counts.
    const { exitCode } = await place.sh("dd if=/dev/zero of=big bs=1 count=1 seek=5G");
    assert.notEqual(exitCode, 0);
  });
});

describe("the sandbox level", () => {
  const held = unless(SANDBOX_LACK);
  it(...held("shows nothing outside the workspace"), async () => {
    const files = { "home/key": "secret", "neighbour/key": "secret", "root/own": "own" };
    await using place = await openTestSandbox("sandbox", files);
    symlinkSync(join(place.outer, "home", "key"), join(place.root, "link"));
    const paths = ["../home/key", "../neighbour/key", `${place.outer}/home/key`, "link"];
    for (const path of [...paths, "/etc/shadow", "/proc/1/root/etc/shadow"]) {
      const { exitCode, stdout } = await place.sh(`cat ${path}`);
      assert.notEqual(exitCode, 0, path);
      assert.equal(stdout, "", path);
    }
    assert.equal((await place.sh("cat own; ls ..")).stdout, "ownhome\nroot\n");
  });

  it(...held("lets no user write the kernel's settings, not even root"), async () => {
    await using place = await openTestSandbox("sandbox");
    // Opened for writing and closed again: nothing is written, whichever user runs this.
    for (const path of ["kernel/core_pattern", "fs/suid_dumpable", "vm/overcommit_memory"]) {
      const { exitCode } = await place.sh(`: >> /proc/sys/${path}`);
      assert.notEqual(exitCode, 0, path);
    }
  });

  it(...held("lets nothing be changed outside the workspace"), async () => {
    await using place = await openTestSandbox("sandbox", { "neighbour/file": "before" });
    const targets = ["../neighbour/file", "../new", "../home/new", "/usr/new", "/etc/new"];
    await place.sh(targets.map((path) => `echo after > ${path}`).join("\n"));
    assert.equal(readFileSync(join(place.outer, "neighbour/file"), "utf8"), "before");
    assert.ok(!existsSync(join(place.outer, "new")) && !existsSync(join(place.outer, "home/new")));
    assert.ok(!existsSync("/usr/new") && !existsSync("/etc/new"));
  });

  it(...held("keeps the workspace as it is when asked to"), async () => {
    await using place = await openTestSandbox("sandbox", { "root/a": "a" }, { writable: false });
    const { stdout, exitCode } = await place.sh("cat a; echo b > a");
    assert.equal(stdout, "a");
    assert.notEqual(exitCode, 0);
  });

  it(...held("hides and fixes what is protected, also through other names"), async () => {
    const files = {
      "root/.offshoot/config.yaml": "secret",
      "root/.env": "secret",
      "root/.git/HEAD": "head",
    };
    await using place = await openTestSandbox("sandbox", files);
    const { root } = place;
    const env = { PATH: process.env["PATH"], HOME: join(place.outer, "home") };
    const hidden = [join(root, ".offshoot"), join(root, ".env"), join(root, "missing")];
    const readOnly = [".git", "missing", "../home"];
    const sandbox = await openSandbox("sandbox", { root, env, network: false, hidden, readOnly });
    const script = [
      "ln -s .offshoot other; cat other/config.yaml; cat .env; ln .env hard && cat hard",
      "mv .offshoot moved; rm -rf .offshoot; umount .offshoot; cat .offshoot/config.yaml",
      "cat .git/HEAD; echo x > .git/HEAD; mkdir -p .git/hooks; mv .git g; echo x > .env",
    ].join("\n");
    const ran = await runCommand(
      sandbox,
      { argv: ["sh", "-c", script], cwd: root },
      { ...RUN_OPTIONS, signal: patience() },
    );
    assert.equal(ran.stdout, "head");
    for (const [path, content] of Object.entries(files)) {
      assert.equal(readFileSync(join(place.outer, path), "utf8"), content);
    }
    assert.ok(!existsSync(join(root, ".git/hooks")));
  });

  it(...held("does not reach the network unless it is allowed"), async () => {
    const server = createServer((_, response) => response.end("reached"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const script = `node -e 'fetch("http://127.0.0.1:${port}").then((r) => r.text()).then(console.log)'`;
      for (const network of [false, true]) {
        await using place = await openTestSandbox("sandbox", {}, { network });
        const { stdout } = await place.sh(script);
        assert.equal(stdout, network ? "reached\n" : "");
      }
    } finally {
      server.close();
    }
  });

  it(...held("sees no process but its own, and can signal none"), async () => {
    await using place = await openTestSandbox("sandbox");
    const { stdout, exitCode } = await place.sh(
      `ls /proc | grep -c '^[0-9]'; kill -0 ${process.pid}`,
    );
    assert.ok(Number(stdout) < 10, stdout);
    assert.notEqual(exitCode, 0);
  });

  it(...held("has no powers and makes no namespaces of its own"), async () => {
    await using place = await openTestSandbox("sandbox");
    const { stdout } = await place.sh(
      "grep CapEff /proc/self/status; mount -t tmpfs x /tmp && echo mounted",
    );
    assert.equal(stdout, "CapEff:\t0000000000000000\n");
  });

  it(...held("tells commands nothing of what it hides, nor where"), async () => {
    const secret = { "root/hidden-name": "x", "root/in.txt": "in" };
    await using place = await openTestSandbox("sandbox", secret, { hidden: ["hidden-name"] });
    const { stdout } = await place.sh("tr '\\0' ' ' < /proc/1/cmdline; ls /proc/self/fd");
    assert.doesNotMatch(stdout, /hidden-nam[e]|offshoot-sandbox/);
  });

  it(
    ...held("shows what a tool asks for beside the workspace, and lets it change what it may"),
    async () => {
      const files = { "tool/data": "data", "scratch/file": "old" };
      await using place = await openTestSandbox("sandbox", files);
      const { outer, root } = place;
      const ran = await runCommand(
        place.sandbox,
        {
          argv: ["sh", "-c", "cat ../tool/data; echo x > ../tool/data; echo new > file"],
          cwd: join(outer, "scratch"),
          reads: [join(outer, "tool")],
          writes: [join(outer, "scratch")],
          env: { EXTRA: "1" },
        },
        { ...RUN_OPTIONS, signal: patience() },
      );
      assert.equal(ran.stdout, "data");
      assert.equal(readFileSync(join(outer, "tool/data"), "utf8"), "data");
      assert.equal(readFileSync(join(outer, "scratch/file"), "utf8"), "new\n");
      assert.ok(existsSync(root));
    },
  );

  it(...held("runs programs that are installed in the home folder"), async () => {
    await using place = await openTestSandbox("sandbox", {
      "home/tools/thing/bin/thing": '#!/bin/sh\ncat "$(dirname "$0")/../lib/words"\n',
      "home/tools/thing/lib/words": "installed\n",
      "home/tools/thing/pyvenv.cfg": "",
    });
    const bin = join(place.outer, "home/tools/thing/bin");
    chmodSync(join(bin, "thing"), 0o755);
    const env = { PATH: `${bin}:${process.env["PATH"]}`, HOME: join(place.outer, "home") };
    const sandbox = await openSandbox("sandbox", {
      root: place.root,
      env,
      network: false,
      hidden: [],
    });
    const ran = await runCommand(
      sandbox,
      { argv: ["sh", "-c", "thing; ls -A ~"], cwd: place.root },
      { ...RUN_OPTIONS, signal: patience() },
    );
    assert.equal(ran.stdout, "installed\ntools\n");
  });

  it("is refused, and never weakened, if bubblewrap is missing", async () => {
    await using place = await openTestSandbox("none");
    const env = { PATH: place.outer, HOME: place.outer };
    const open = openSandbox("sandbox", { root: place.root, env, network: false, hidden: [] });
    await assert.rejects(open, {
      code: "invalid_request",
      message:
        /^The sandbox level `sandbox` is not available: bubblewrap is not installed\. Install it/,
    });
  });

  it("does not use a bubblewrap inside the workspace", async () => {
    await using place = await openTestSandbox("none", { "root/bin/bwrap": "#!/bin/sh\nexit 0\n" });
    chmodSync(join(place.root, "bin/bwrap"), 0o755);
    const env = { PATH: join(place.root, "bin"), HOME: join(place.outer, "home") };
    const open = openSandbox("sandbox", { root: place.root, env, network: false, hidden: [] });
    await assert.rejects(open, { message: /bubblewrap is not installed/ });
  });

  it("is refused if bubblewrap runs and cannot contain commands, with its own message", async () => {
    const script =
      '#!/bin/sh\ncase $1 in --help) exit 0;; esac\necho "no namespaces" >&2; exit 1\n';
    await using place = await openTestSandbox("none", { "tools/bwrap": script });
    chmodSync(join(place.outer, "tools/bwrap"), 0o755);
    const env = { PATH: join(place.outer, "tools"), HOME: join(place.outer, "home") };
    const open = openSandbox("sandbox", { root: place.root, env, network: false, hidden: [] });
    await assert.rejects(open, { code: "invalid_request", message: /\(no namespaces\)/ });
  });

  it("is refused for a workspace that contains the home folder", async () => {
    const env = { PATH: process.env["PATH"], HOME: "/home/someone" };
    for (const root of ["/", "/home", "/home/someone"]) {
      const open = openSandbox("sandbox", { root, env, network: false, hidden: [] });
      await assert.rejects(open, { code: "invalid_request", message: /would hide nothing/ });
    }
  });

  it("is refused for the home folder even if the variable names it by a link", async () => {
    await using place = await openTestSandbox("none", {});
    const root = join(place.outer, "home");
    const link = join(place.outer, "link");
    symlinkSync(root, link);
    const env = { PATH: process.env["PATH"], HOME: link };
    const open = openSandbox("sandbox", { root, env, network: false, hidden: [] });
    await assert.rejects(open, { code: "invalid_request", message: /is your home folder/ });
  });

  it(...held("is found by the probe"), async () => {
    assert.deepEqual(await probeSandbox(process.env), {
      levels: ["none", "process", "sandbox"],
      problem: undefined,
    });
  });
});
