/**
 * The launcher of a clone, with an npm and a Node that only record where they were started: how it finds
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
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../../../offshoot", import.meta.url));

interface Clone extends AsyncDisposable {
  /** Contains the clone, and the other files of a test. */
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

/** `npm` also runs shell code of the test. */
async function createClone(npm = "", name = "clone"): Promise<Clone> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "offshoot-launcher-")));
  const folder = join(root, name);
  const bin = join(root, "bin");
  const log = join(root, "npm.log");
  for (const path of ["src", "scripts", "web"])
    await mkdir(join(folder, path), { recursive: true });
  await mkdir(bin);
  await copyFile(LAUNCHER, join(folder, "offshoot"));
  await writeFile(join(folder, "package.json"), '{\n  "name": "offshoot"\n}\n');
  for (const file of ["package-lock.json", "rolldown.config.js", "web/main.tsx"]) {
    await writeFile(join(folder, file), "\n");
  }
  await writeScript(
    join(bin, "npm"),
    `echo "$PWD: $*" >> '${log}'\n${npm}\nmkdir -p node_modules && touch node_modules/.package-lock.json`,
  );
  await writeScript(
    join(bin, "node"),
    [
      "case $* in",
      "scripts/*console*) mkdir -p dist/console && echo built >dist/console/index.html ;;",
      "scripts/*) mkdir -p dist/bin && touch dist/bin/cli.js ;;",
      '*) echo "node $*" ;;',
      "esac",
    ].join("\n"),
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

  it("builds the console too, and again if it is missing or older than its source", async () => {
    await using clone = await createClone();
    const launcher = join(clone.folder, "offshoot");
    const page = join(clone.folder, "dist", "console", "index.html");
    await clone.start(launcher, ["ui"]);
    assert.equal(await readFile(page, "utf8"), "built\n");
    await rm(page);
    await clone.start(launcher, ["ui"]);
    assert.equal(await readFile(page, "utf8"), "built\n");
    await writeFile(page, "old\n");
    const later = new Date(Date.now() + 60_000);
    await utimes(join(clone.folder, "web", "main.tsx"), later, later);
    await clone.start(launcher, ["ui"]);
    assert.equal(await readFile(page, "utf8"), "built\n");
  });

  it("is found through links, and does not change the project that contains the link", async () => {
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

  it("works if its path has a space and a letter that is not ASCII", async () => {
    await using clone = await createClone("", "my clön e");
    const ended = await clone.start(join(clone.folder, "offshoot"), ["doctor"]);
    assert.equal(ended.stdout, `node ${clone.folder}/dist/bin/cli.js doctor\n`, ended.stderr);
    assert.deepEqual(await clone.npmCalls(), [`${clone.folder}: ${INSTALL}`]);
  });

  /** As a second working tree has them that shares its packages with the first. */
  async function linkModules(clone: Clone, files: readonly string[]): Promise<string> {
    const shared = join(clone.root, "shared");
    await mkdir(shared);
    for (const file of files) await writeFile(join(shared, file), "");
    await symlink(shared, join(clone.folder, "node_modules"));
    // The packages are older than the lock file, which a new working tree has just written.
    await utimes(join(clone.folder, "package-lock.json"), new Date(), new Date(Date.now() + 9e6));
    return shared;
  }

  it("uses linked packages as they are: npm would empty the folder of another clone", async () => {
    await using clone = await createClone();
    const shared = await linkModules(clone, [".package-lock.json", "precious"]);
    const ended = await clone.start(join(clone.folder, "offshoot"), ["-V"]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(await clone.npmCalls(), []);
    assert.deepEqual((await readdir(shared)).sort(), [".package-lock.json", "precious"]);
  });

  it("does not install into a linked folder without packages", async () => {
    await using clone = await createClone();
    await linkModules(clone, []);
    const ended = await clone.start(join(clone.folder, "offshoot"), ["-V"]);
    assert.equal(ended.code, 1);
    assert.match(
      ended.stderr,
      /^offshoot: .*node_modules is a link to .*shared.*remove the link\.\n$/,
    );
    assert.deepEqual(await clone.npmCalls(), []);
  });

  it("has scripts that treat linked packages in the same way", async () => {
    await using clone = await createClone();
    await writeFile(
      join(clone.folder, "package.json"),
      '{ "name": "offshoot", "type": "module" }\n',
    );
    for (const file of ["packages.js", "install.js"]) {
      await copyFile(join(dirname(LAUNCHER), "scripts", file), join(clone.folder, "scripts", file));
    }
    const shared = await linkModules(clone, [".package-lock.json"]);
    const install = join(clone.folder, "scripts", "install.js");
    const used = await clone.start(process.execPath, [install, "."]);
    assert.deepEqual(used, { code: 0, stdout: "", stderr: "" });
    await rm(join(shared, ".package-lock.json"));
    const refused = await clone.start(process.execPath, [install, "."]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^.*node_modules is a link to .*shared.*remove the link\.\n$/);
    assert.deepEqual(await clone.npmCalls(), []);
  });

  it("refuses to run npm in a folder to which it was copied", async () => {
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

  it("takes turns if it is started several times at once", async () => {
    await using clone = await createClone("sleep 1");
    const launcher = join(clone.folder, "offshoot");
    const ends = await Promise.all(Array.from({ length: 4 }, () => clone.start(launcher, ["-V"])));
    for (const { code, stderr } of ends) assert.equal(code, 0, stderr);
    assert.equal((await clone.npmCalls()).length, 1);
  });

  it("continues after a setup that was killed", async () => {
    await using clone = await createClone();
    const gone = spawn("true");
    await once(gone, "close");
    await mkdir(join(clone.folder, ".offshoot-setup"));
    await writeFile(join(clone.folder, ".offshoot-setup", "pid"), `${gone.pid}\n`);
    const ended = await clone.start(join(clone.folder, "offshoot"), ["-V"]);
    assert.equal(ended.code, 0, ended.stderr);
  });

  it("shows npm's output after a failure, and tries again the next time", async () => {
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
  it("reports it, instead of losing the answer", () => {
    const { status, stderr } = spawnSync("/bin/sh", ["-c", '"$0" run hello >&-', LAUNCHER], {
      encoding: "utf8",
    });
    assert.equal(status, 1);
    assert.match(stderr, /^offshoot: Standard output is closed, .*\n$/);
  });
});
