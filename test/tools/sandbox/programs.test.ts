import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import {
  findProgram,
  installation,
  isWithin,
  programFolders,
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

  it("looks along the path for what can be run", () => {
    assert.equal(findProgram("thing", path, "/"), join(outer, "bin/thing"));
    assert.equal(findProgram("text", path, "/"), undefined);
    assert.equal(findProgram("folder", path, "/"), undefined);
    assert.equal(findProgram("other", path, "/"), undefined);
  });

  it("takes a path from where the command starts, and not along the path", () => {
    assert.equal(findProgram("./thing", path, join(outer, "bin")), join(outer, "bin/thing"));
    assert.equal(findProgram("bin/thing", path, outer), join(outer, "bin/thing"));
    assert.equal(findProgram("./thing", path, outer), undefined);
  });
});

describe("installation", () => {
  const around = { home: "/home/me", root: "/home/me/work", seen: [] };
  const rows: readonly [folder: string, seen: string, why: string][] = [
    ["/opt/node/bin", "/opt/node", "the folder above `bin`"],
    ["/opt/tools", "/opt/tools", "a folder that is not `bin` itself"],
    ["/home/me/.pyenv/shims", "/home/me/.pyenv", "a version manager"],
    ["/home/me/.nvm/versions/node/v22/bin", "/home/me/.nvm/versions/node/v22", "one version"],
    ["/home/me/tools/x/bin", "/home/me/tools/x", "a tree of programs in the home folder"],
    ["/home/me/bin", "/home/me/bin", "not the home folder"],
    ["/home/me/.local/bin", "/home/me/.local/bin", "not what lies beside it"],
    ["/home/me/.cargo/bin", "/home/me/.cargo/bin", "not the registry's key"],
    ["/home/me/.config/x/bin", "/home/me/.config/x/bin", "not settings"],
    ["/home/bin", "/home/bin", "not everybody's home"],
    ["/bin", "/bin", "not everything"],
  ];
  for (const [folder, seen, why] of rows) {
    it(`shows ${why}: ${folder}`, () => assert.equal(installation(folder, around), seen));
  }
});

describe("programFolders", () => {
  it("shows real folders of the path, and none that is seen anyway or shows too much", () => {
    const home = join(outer, "home");
    const [tool, root] = [join(outer, "tool"), join(home, "work")];
    for (const folder of [join(tool, "bin"), join(root, "bin"), join(home, ".pyenv")]) {
      mkdirSync(folder, { recursive: true });
    }
    const path = [join(tool, "bin"), join(root, "bin"), home, outer, "/", "/usr/bin", "/no/such"];
    const folders = programFolders(path.join(":"), { home, root, seen: ["/usr", root] });
    assert.deepEqual(folders, [join(home, ".pyenv"), tool]);
  });
});

describe("isWithin", () => {
  it("is not taken in by names that begin alike", () => {
    assert.ok(isWithin("/a", "/a") && isWithin("/a", "/a/b") && isWithin("/", "/a"));
    assert.ok(!isWithin("/a", "/ab") && !isWithin("/a/b", "/a") && !isWithin("/a", "/b"));
    assert.ok(isWithin("/a", "/a/..b"));
  });
});
