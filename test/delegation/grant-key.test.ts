import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openGrantKey } from "../../src/delegation/runner/grant-key.ts";
import { createWorkspaceFolder } from "../tools/workspace-folder.ts";

describe("the key of this machine", () => {
  it("is created once, and the same for all callers", async () => {
    using folder = createWorkspaceFolder({});
    const file = join(folder.root, "data", "seal.key");
    const [first, second] = await Promise.all([openGrantKey(file), openGrantKey(file)]);
    assert.equal(first.length, 32);
    assert.deepEqual(first, second);
  });

  it("says which folder cannot be written, and how to give another", async () => {
    using folder = createWorkspaceFolder({ home: "a file" });
    const file = join(folder.root, "home", "offshoot", "seal.key");
    await assert.rejects(openGrantKey(file), {
      code: "invalid_request",
      message: /home\/offshoot cannot be written \(ENOTDIR\).* Set OFFSHOOT_DATA to a folder/,
    });
  });

  it("reports a file without a key", async () => {
    using folder = createWorkspaceFolder({});
    const file = join(folder.root, "seal.key");
    writeFileSync(file, "short");
    await assert.rejects(openGrantKey(file), { message: /has no key\. Remove the file/ });
  });
});
