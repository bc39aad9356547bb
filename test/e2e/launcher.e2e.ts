/**
 * The launcher of a clone, with an npm and a Node that only write down where they were started: how it finds
 * its own folder, and what it does there on the first start.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../../../offshoot", import.meta.url));

interface Clone extends AsyncDisposable {
  /** Holds the clone, and whatever a test puts beside it. */
  readonly root: string;
  readonly folder: string;
  start(file: string, args: readonly string[], options?: StartOptions): Promise<Ended>;
  /** One line for each start of npm: its folder and its arguments. */
  npmCalls(): Promise<string[]>;
}

interface StartOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm` also does what a test says, in shell. */
async function createClone(npm = "", name = "clone"): Promise<Clone> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "offshoot-launcher-")));
  const [folder, bin, log] = [join(root, name), join(root, "bin"), join(root, "npm.log")];
  for (const path of ["src", "scripts"]) await mkdir(join(folder, path), { recursive: true });
  await mkdir(bin);
  await copyFile(LAUNCHER, join(folder, "offshoot"));
  await writeFile(join(folder, "package.json"), '{\n  "name": "offshoot"\n}\n');
  for (const file of ["package-lock.json", "rolldown.config.js"]) {
    await writeFile(join(folder, file), "\n");
  }
  await writeScript(
    join(bin, "npm"),
    `echo "$PWD: $*" >> '${log}'\n${npm}\nmkdir -p node_modules && touch node_modules/.package-lock.json`,
  );
  await writeScript(
    join(bin, "node"),
    'case $1 in scripts/*) mkdir -p dist/bin && touch dist/bin/cli.js ;; *) echo "node $*" ;; esac',
  );
  return {
    root,
    folder,
    start: async (file, args, { cwd = root, env = {} } = {}) => {
      const child = spawn(file, args, { cwd, env: { PATH: `${bin}:/usr/bin:/bin`, ...env } });
      const said = { stdout: "", stderr: "" };
      child.stdout.setEncoding("utf8").on("data", (piece: string) => (said.stdout += piece));
      child.stderr.setEncoding("utf8").on("data", (piece: string) => (said.stderr += piece));
      const [code] = (await once(child, "close")) as [number | null];
      return { code, ...said };
    },
    npmCalls: async () => (await readFile(log, "utf8").catch(() => "")).split("\n").filter(Boolean),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

async function writeScript(path: string, text: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
}

const INSTALL = "ci --include=dev --no-audit --no-fund";

describe("the launcher of a clone", () => {
  it("installs and builds in its own folder once, then runs the command", async () => {
    await using clone = await createClone();
    const launcher = join(clone.folder, "offshoot");
    const command = `node ${clone.folder}/dist/bin/cli.js run hi there\n`;
    for (let start = 0; start < 2; start++) {
      const ended = await clone.start(launcher, ["run", "hi there"]);
      assert.deepEqual(ended, { code: 0, stdout: command, stderr: "" });
    }
    assert.deepEqual(await clone.npmCalls(), [`${clone.folder}: ${INSTALL}`]);
    assert.ok(!(await readdir(clone.folder)).includes(".offshoot-setup"));
  });

  it("is found through links, and leaves the project it is linked into alone", async () => {
    await using clone = await createClone();
    const other = join(clone.root, "other");
    await mkdir(join(other, "node_modules", "precious"), { recursive: true });
    await mkdir(join(clone.root, "links"));
    await writeFile(join(other, "package.json"), '{ "name": "other" }\n');
    await writeFile(join(other, "package-lock.json"), "{}\n");
    await symlink(join(clone.folder, "offshoot"), join(clone.root, "links", "absolute"));
    await symlink("../links/absolute", join(other, "offshoot"));
    const ended = await clone.start("./offshoot", ["--version"], { cwd: other });
    assert.equal(ended.stdout, `node ${clone.folder}/dist/bin/cli.js --version\n`, ended.stderr);
    assert.deepEqual(await clone.npmCalls(), [`${clone.folder}: ${INSTALL}`]);
    assert.deepEqual((await readdir(other)).sort(), [
      "node_modules",
      "offshoot",
      "package-lock.json",
      "package.json",
    ]);
    assert.deepEqual(await readdir(join(other, "node_modules")), ["precious"]);
  });

  it("works where its path has a space and a letter that is not ASCII", async () => {
    await using clone = await createClone("", "my clön e");
    const ended = await clone.start(join(clone.folder, "offshoot"), ["doctor"]);
    assert.equal(ended.stdout, `node ${clone.folder}/dist/bin/cli.js doctor\n`, ended.stderr);
    assert.deepEqual(await clone.npmCalls(), [`${clone.folder}: ${INSTALL}`]);
  });

  it("refuses to run npm where it was copied to", async () => {
    await using clone = await createClone();
    const other = join(clone.root, "other");
    await mkdir(join(other, "src"), { recursive: true });
    await writeFile(join(other, "package.json"), '{\n  "name": "other"\n}\n');
    await copyFile(LAUNCHER, join(other, "offshoot"));
    const ended = await clone.start(join(other, "offshoot"), ["run", "hi"]);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /^offshoot: .*other is not a clone of Offshoot\..*\n$/);
    assert.deepEqual(await clone.npmCalls(), []);
    assert.deepEqual((await readdir(other)).sort(), ["offshoot", "package.json", "src"]);
  });

  it("takes turns when it is started several times at once", async () => {
    await using clone = await createClone("sleep 1");
    const launcher = join(clone.folder, "offshoot");
    const ends = await Promise.all(Array.from({ length: 4 }, () => clone.start(launcher, ["-V"])));
    for (const { code, stderr } of ends) assert.equal(code, 0, stderr);
    assert.equal((await clone.npmCalls()).length, 1);
  });

  it("goes on after a setup that was killed", async () => {
    await using clone = await createClone();
    const gone = spawn("true");
    await once(gone, "close");
    await mkdir(join(clone.folder, ".offshoot-setup"));
    await writeFile(join(clone.folder, ".offshoot-setup", "pid"), `${gone.pid}\n`);
    const ended = await clone.start(join(clone.folder, "offshoot"), ["-V"]);
    assert.equal(ended.code, 0, ended.stderr);
  });

  it("shows what npm said when it fails, and tries again the next time", async () => {
    await using clone = await createClone("echo 'no network' >&2; exit 7");
    const launcher = join(clone.folder, "offshoot");
    for (let start = 1; start <= 2; start++) {
      const ended = await clone.start(launcher, ["run", "hi"]);
      assert.equal(ended.code, 1);
      assert.match(
        ended.stderr,
        /^no network\noffshoot: "npm ci .*" failed in .*; its output is above\.\n$/,
      );
      assert.equal((await clone.npmCalls()).length, start);
    }
  });
});

describe("a launcher whose standard output is closed", () => {
  it("says so, in place of losing the answer", () => {
    const { status, stderr } = spawnSync("/bin/sh", ["-c", '"$0" run hello >&-', LAUNCHER], {
      encoding: "utf8",
    });
    assert.equal(status, 1);
    assert.match(stderr, /^offshoot: Standard output is closed, .*\n$/);
  });
});
