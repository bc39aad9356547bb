import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeFolder } from "../../src/base/make-folder.ts";
import { toUnusable } from "../../src/store/sqlite/sqlite-fault.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { LINUX_LACK, unless } from "../needs.ts";

/** What `require` calls to find a package. */
interface Loader {
  _load(name: string, ...rest: readonly unknown[]): unknown;
}

const Module = createRequire(import.meta.url)("node:module") as Loader;

const HELP = /cannot be made .*Set `OFFSHOOT_DATA` to a folder that .* with `--no-store`\.$/;

describe("a machine without SQLite", () => {
  it("gets a message that says so, and not that its file is unusable", async (t) => {
    const root = mkdtempSync(join(tmpdir(), "offshoot-driver-"));
    t.after(() => rmSync(root, { recursive: true }));
    t.mock.method(process, "getBuiltinModule", () => undefined);
    const load = Module._load;
    t.mock.method(Module, "_load", (name: string, ...rest: unknown[]) => {
      if (name === "@photostructure/sqlite") throw new Error("Cannot find the module.");
      return load(name, ...rest);
    });
    await assert.rejects(openSqliteStore(join(root, "runs.db")), {
      code: "invalid_request",
      message:
        "SQLite is missing: use Node.js 22.13 or later, or run `npm install @photostructure/sqlite`.",
    });
    assert.equal(existsSync(join(root, "runs.db")), false);
  });
});

describe("the folder of a store", () => {
  it("is created with those above it, for the user alone", (t) => {
    const root = mkdtempSync(join(tmpdir(), "offshoot-folder-"));
    t.after(() => rmSync(root, { recursive: true }));
    const folder = join(root, "a", "b");
    makeFolder(folder);
    makeFolder(folder);
    assert.equal(statSync(join(root, "a")).mode & 0o777, 0o700);
    assert.ok(existsSync(folder));
  });

  it(...unless(LINUX_LACK)("is refused below /proc, where mkdir would try for ever"), async () => {
    const refused = openSqliteStore("/proc/offshoot/runs.db");
    await assert.rejects(refused, { code: "invalid_request", message: HELP });
  });

  it("that cannot be created causes an error that says what to do", async (t) => {
    const root = mkdtempSync(join(tmpdir(), "offshoot-folder-"));
    t.after(() => rmSync(root, { recursive: true }));
    writeFileSync(join(root, "file"), "");
    await assert.rejects(openSqliteStore(join(root, "file", "runs.db")), { message: HELP });
    for (const code of ["EACCES", "EROFS"]) {
      const cause = Object.assign(new Error(`${code}: no, mkdir '/home/x'`), { code });
      assert.match(toUnusable("/home/x/runs.db", cause).message, HELP);
    }
  });
});
