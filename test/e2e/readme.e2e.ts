/** The first command that a new user types: the README's sample is what the command prints. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { CLI } from "./command.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The time and the id differ each time. The model's prompt has its folder, which has tokens too. */
function withoutTime(text: string): string {
  const always = text.replace(/\d+\.\d s/g, "… s").replace(/run_\w+…?/, "run_…");
  return always.replace(/\d\d,\d{3} tokens/, "… tokens");
}

it("the sample of the README is what its command prints", async () => {
  const readme = await readFile(join(ROOT, "README.md"), "utf8");
  const sample =
    /\$ \.\/offshoot run "(?<asked>[^"]+)"\n(?<printed>[^`]*?(?:`[^`\n]+`[^`]*?)*)```/.exec(readme);
  const { asked = "", printed = "" } = sample?.groups ?? {};
  const home = await mkdtemp(join(tmpdir(), "offshoot-readme-"));
  try {
    // Both to one pipe, like on a terminal, and no local server is looked for.
    const { stdout } = spawnSync(
      "/bin/sh",
      ["-c", '"$0" "$1" run "$2" 2>&1', process.execPath, CLI, asked],
      {
        cwd: ROOT,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
        env: { HOME: home, PATH: process.env["PATH"], OFFSHOOT_PROBE_LOCAL: "false" },
      },
    );
    assert.equal(withoutTime(printed), withoutTime(stdout));
  } finally {
    await rm(home, { recursive: true });
  }
});
