import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { isWithin } from "../../../src/base/paths.ts";
import {
  findProgram,
  installation,
  programFolders,
  secretSettings,
} from "../../../src/tools/sandbox/programs.ts";

const outer = realpathSync(mkdtempSync(join(tmpdir(), "offshoot-programs-")));
after(() => rmSync(outer, { recursive: true, force: true }));

describe("findProgram", () => {
  const write = (path: string, mode: number): void => {
    mkdirSync(dirname(join(outer, path)), { recursive: true });
    writeFileSync(join(outer, path), "");
    chmodSync(join(outer, path), mode);
  };
  write("bin/thing", 0o755);
  write("bin/text", 0o644);
  mkdirSync(join(outer, "bin/folder"));
  const path = `/no/such:${join(outer, "bin")}`;

  it("searches the path for executable files", () => {
    assert.equal(findProgram("thing", path, "/"), join(outer, "bin/thing"));
    assert.equal(findProgram("text", path, "/"), undefined);
    assert.equal(findProgram("folder", path, "/"), undefined);
    assert.equal(findProgram("other", path, "/"), undefined);
  });

  it("resolves a path from where the command starts, and does not search it", () => {
    assert.equal(findProgram("./thing", path, join(outer, "bin")), join(outer, "bin/thing"));
    assert.equal(findProgram("bin/thing", path, outer), join(outer, "bin/thing"));
    assert.equal(findProgram("./thing", path, outer), undefined);
  });
});

describe("installation", () => {
  const base = join(outer, "machine");
  const around = { home: join(base, "home/me"), root: join(base, "home/me/work"), seen: [] };
  const files = [
    "opt/tool/bin/x",
    "opt/tool/lib/x",
    "opt/tool/.env",
    "home/me/src/other/bin/x",
    "home/me/src/other/lib/x",
    "home/me/src/other/.env",
    "home/me/env/bin/python",
    "home/me/env/lib/python3.12/os.py",
    "home/me/env/pyvenv.cfg",
    "home/me/env/.env",
    "home/me/node/bin/node",
    "home/me/node/lib/node_modules/npm/x",
    "home/me/.local/bin/x",
    "home/me/.local/lib/python3.12/x",
    "home/me/.local/share/keyrings/x",
    "home/me/.cargo/bin/x",
    "home/me/.cargo/lib/x",
    "home/me/lib/node_modules/x",
  ];
  for (const file of files) {
    mkdirSync(dirname(join(base, file)), { recursive: true });
    writeFileSync(join(base, file), "");
  }
  const rows: readonly [why: string, folder: string, beside: readonly string[]][] = [
    ["a program's libraries", "opt/tool/bin", ["opt/tool/lib"]],
    ["a folder that is not `bin` itself", "opt/tool", []],
    ["nothing of a project in the home folder", "home/me/src/other/bin", []],
    ["what Python needs", "home/me/env/bin", ["home/me/env/lib", "home/me/env/pyvenv.cfg"]],
    ["what Node needs", "home/me/node/bin", ["home/me/node/lib"]],
    ["nothing of the home folder", "home/me/bin", []],
    ["nothing beside programs", "home/me/.local/bin", []],
    ["no registry's key", "home/me/.cargo/bin", []],
    ["nothing of everybody's home", "home/bin", []],
  ];
  for (const [why, folder, beside] of rows) {
    it(`shows ${why}: ${folder}`, () => {
      const expected = [folder, ...beside].map((path) => join(base, path));
      assert.deepEqual(installation(join(base, folder), around), expected);
    });
  }
  it("does not take the whole system for an installation", () => {
    assert.deepEqual(installation("/bin", around), ["/bin"]);
  });
});

describe("settings of programs beside their files", () => {
  const home = join(outer, "keeper");
  const shown = [
    ...[".local/share/uv/tools/ruff/bin/ruff", ".local/share/uv/python/cpython/bin/python3"],
    ...[".local/share/pipx/venvs/black/bin/black", ".nvm/versions/node/v20/bin/node"],
    ...[".cargo/bin/rg", ".pyenv/versions/3.12/bin/python", ".pyenv/shims/python"],
    ...[".local/share/mise/installs/node/20/bin/node", ".rustup/toolchains/stable/bin/cargo"],
    ...[".asdf/installs/nodejs/20/bin/node", ".volta/tools/image/node/20/bin/node"],
  ];
  const secret = [
    ...[".local/share/uv/credentials/credentials.toml", ".cargo/credentials.toml"],
    ...[
      ".cargo/credentials",
      ".cargo/config.toml",
      ".npmrc",
      ".pypirc",
      ".netrc",
      ".gem/credentials",
    ],
    ...[".config/gh/hosts.yml", ".config/gcloud/credentials.db", ".aws/credentials"],
    ...[".docker/config.json", ".git-credentials", ".config/git/credentials", ".kube/config"],
    ...[".ssh/id_ed25519", ".local/share/keyrings/login.keyring", ".local/share/mise/secrets"],
    ...[".nvm/.npmrc", ".nvm/versions/node/v20/etc/npmrc", ".asdf/installs/nodejs/20/etc/npmrc"],
    ...[".volta/tools/image/node/20/etc/npmrc", ".local/share/mise/installs/node/20/etc/npmrc"],
    ...[".pyenv/versions/3.12/pip.conf", ".pyenv/.netrc", ".local/share/pipx/logs/cmd.log"],
    ...[".local/share/pipx/venvs/black/pip.conf", ".local/share/uv/tools/ruff/pip.conf"],
    ...[".rustup/tmp/x", ".bun/install/cache/x", ".deno/secrets", "go/pkg/mod/cache/x"],
  ];
  for (const file of [...shown, ...secret]) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), "");
  }
  const folders = programFolders("/usr/bin", { home, root: join(home, "work"), seen: ["/usr"] });
  const covered = secretSettings(home);
  const isSeen = (file: string): boolean =>
    folders.some((folder) => isWithin(folder, join(home, file))) &&
    !covered.includes(join(home, file));

  for (const file of shown) it(`shows ~/${file}`, () => assert.ok(isSeen(file)));
  for (const file of secret) it(`does not show ~/${file}`, () => assert.ok(!isSeen(file)));
});

describe("programFolders", () => {
  it("shows real folders of the path, and none that is visible anyway or shows too much", () => {
    const home = join(outer, "home");
    const tool = join(outer, "tool");
    const root = join(home, "work");
    const made = [
      ...[join(tool, "bin"), join(tool, "lib"), join(root, "bin")],
      join(home, ".pyenv/shims"),
    ];
    for (const folder of made) mkdirSync(folder, { recursive: true });
    const path = [join(tool, "bin"), join(root, "bin"), home, outer, "/", "/usr/bin", "/no/such"];
    const folders = programFolders(path.join(":"), { home, root, seen: ["/usr", root] });
    assert.deepEqual(folders, [join(home, ".pyenv/shims"), join(tool, "bin"), join(tool, "lib")]);
  });
});
