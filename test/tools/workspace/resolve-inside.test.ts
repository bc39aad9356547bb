import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { toFailure } from "../../../src/base/failure.ts";
import { findRelative, followInside } from "../../../src/tools/workspace/resolve-inside.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

describe("findRelative", () => {
  it("returns the way to a path inside, and undefined for others", () => {
    const root = join("/", "work", "root");
    for (const [path, way] of [
      ["a/b", "a/b"],
      ["./a/../b/", "b"],
      [".", ""],
      [join(root, "..c"), "..c"],
      ["..", undefined],
      ["../root-more", undefined],
      ["/etc", undefined],
    ] as const) {
      assert.equal(findRelative(root, path), way, path);
    }
  });
});

describe("followInside", () => {
  it("follows the system's way, and reports what leads out or is missing", async () => {
    using folder = createWorkspaceFolder({ "a/b/c.txt": "", "d/e.txt": "" });
    const { root } = folder;
    mkdirSync(join(dirname(root), "outside"));
    symlinkSync("../a/b", join(root, "d/in"));
    symlinkSync("../outside", join(root, "out"));
    symlinkSync(`${root}/out/../d`, join(root, "detour"));
    const jail = { root, name: root, closed: [] };
    const find = (path: string): Promise<string> =>
      followInside(jail, path).then(
        ({ relative }) => relative,
        (thrown: unknown) => toFailure(thrown).code,
      );
    for (const [path, way] of [
      ["d/e.txt", "d/e.txt"],
      ["d/./in//c.txt", "a/b/c.txt"],
      ["d/in/new/one", "a/b/new/one"],
      ["d/in/../x", "a/x"],
      ["d/in/../../x", "x"],
      ["d/in/../../../x", "forbidden"],
      [`${root}/d/in/../x`, "a/x"],
      [root, ""],
      [`${root}-more/x`, "forbidden"],
      ["out", "forbidden"],
      ["out/new", "forbidden"],
      ["out/../d/e.txt", "forbidden"],
      ["detour/e.txt", "forbidden"],
      ["new/../d", "not_found"],
      ["a/.git/x", "forbidden"],
      ["~/x", "forbidden"],
    ] as const) {
      assert.equal(await find(path), way, path);
    }
  });
});
