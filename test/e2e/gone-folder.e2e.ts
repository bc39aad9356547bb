import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { CLI, createPlace } from "./command.ts";

describe("a folder that was deleted under the shell", () => {
  it("is reported in one line, with exit code 2", async () => {
    await using place = await createPlace();
    const line = `mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"`;
    const argv = ["-c", line, process.execPath, CLI, "run", "hello"];
    const env = { PATH: process.env["PATH"], HOME: place.home };
    const { status, stderr } = spawnSync("/bin/sh", argv, {
      cwd: place.cwd,
      env,
      encoding: "utf8",
    });
    assert.match(stderr, /^offshoot: The folder you are in does not exist any more\.[^\n]*\n$/);
    assert.equal(status, 2);
  });
});
