import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openPrivateFolder } from "../../../src/tools/sandbox/private-folder.ts";

describe("openPrivateFolder", () => {
  // The superuser can remove files from any folder, so the test shows nothing for it.
  it("is removed with folders that are read-only", async () => {
    const folder = await openPrivateFolder();
    const cache = join(folder.env.HOME, "go/mod");
    mkdirSync(join(cache, "inner"), { recursive: true });
    writeFileSync(join(cache, "inner/file"), "");
    for (const path of [join(cache, "inner"), cache]) chmodSync(path, 0o555);
    await folder.close();
    assert.ok(!existsSync(folder.path));
  });

  it("does not reject if its folder is gone", async () => {
    const outer = mkdtempSync(join(tmpdir(), "offshoot-private-"));
    const folder = await openPrivateFolder(outer);
    rmSync(outer, { recursive: true });
    await folder.close();
  });
});
