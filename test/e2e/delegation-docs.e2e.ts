/** The examples of docs/delegation.md are what the commands print. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createPlace } from "./command.ts";

const PAGE = fileURLToPath(new URL("../../../docs/delegation.md", import.meta.url));

/** The files that the shell lines of the example create. */
function filesIn(example: string): Record<string, string> {
  const lines = [...example.matchAll(/^printf '([^']*)' > (\S+)$/gm)];
  return Object.fromEntries(
    lines.map(([, text = "", path = ""]) => [path, text.replaceAll("\\n", "\n")]),
  );
}

describe("docs/delegation.md", () => {
  it("has a first example that does what it says", async () => {
    const page = await readFile(PAGE, "utf8");
    const [, example = "", answer = ""] =
      /```sh\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/.exec(page) ?? [];
    const [, prompt = ""] = /offshoot run -m embedded "([^"]+)"/.exec(example) ?? [];
    await using place = await createPlace(filesIn(example));
    const ended = await place.run(["run", "-m", "embedded", prompt]);
    assert.deepEqual([ended.code, ended.stdout], [0, answer], ended.stderr);
    const root = (await place.runIds()).find((id) => !id.includes("/")) ?? "";
    const events = await place.run(["runs", "events", root]);
    assert.equal(events.stdout.match(/subagent\.event=spawn /g)?.length, 3, events.stdout);
    assert.equal(events.stdout.match(/subagent\.event=complete /g)?.length, 3);
    const replayed = await place.run(["runs", "replay", root]);
    assert.equal(replayed.code, 0, replayed.stdout);
  });

  it("has a payload that the runner accepts", async () => {
    const page = await readFile(PAGE, "utf8");
    const [, input = ""] = /echo '([^']+)' \| offshoot subagent/.exec(page) ?? [];
    await using place = await createPlace();
    const { code, stdout } = await place.run(["subagent"], { input });
    assert.equal(code, 0);
    assert.match(stdout, /^event: response_start\n[\s\S]*event: response_end\n/);
  });
});
