/** Delegation through the command with no key and no script: the embedded model asks, and answers. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { createPlace, type Ended, type Place } from "./command.ts";

const lines = (count: number): string => "line\n".repeat(count);
const FILES = {
  "src/a.ts": lines(12),
  "src/deep/b.ts": lines(8),
  "src/empty.ts": "",
  "test/a.test.ts": `${lines(4)}the last one has no end`,
  "docs/guide.md": lines(7),
  "docs/logo.png": Buffer.from([0x89, 0x50, 0x0a, 0, 0x0a]),
};

const COUNT =
  "ask three subagents in parallel to count the lines of src, test and docs, then add them up";

async function run(place: Place, prompt: string, ...flags: string[]): Promise<Ended> {
  const ended = await place.run(["run", ...flags, prompt]);
  assert.equal(ended.code, 0, ended.stderr);
  return ended;
}

type Start = Extract<RunEvent, { type: "child_start" }>;
type End = Extract<RunEvent, { type: "run_end" }>;

describe("the embedded model as the parent", () => {
  it("has three subagents count lines, and adds them up", async () => {
    await using place = await createPlace(FILES);
    const { stdout, stderr } = await run(place, COUNT);
    assert.match(stderr, /^model: embedded\/offline/);
    assert.equal(
      stdout,
      [
        "3 subagents answered:",
        "- `src`: The text files in `src` have 20 lines.",
        "- `test`: The text files in `test` have 5 lines.",
        "- `docs`: The text files in `docs` have 7 lines.",
        "",
        "Total: 20 + 5 + 7 = 32",
        "",
      ].join("\n"),
    );
    const ids = await place.runIds();
    const root = ids.find((id) => !id.includes("/")) ?? "";
    assert.equal(ids.length, 4, "one run and three below it");
    const { events } = await place.show(root);
    const starts = events.filter((event): event is Start => event.type === "child_start");
    assert.deepEqual(starts.map(({ label }) => label).sort(), ["docs", "src", "test"]);
    for (const { child_id, label } of starts) {
      const child = await place.show(child_id);
      const end = child.events.findLast((event): event is End => event.type === "run_end");
      assert.deepEqual([end?.ending, end?.tool_calls], ["completed", 1], label);
      assert.match(end?.output_text ?? "", /^The text files in `\w+` have \d+ lines\.$/);
    }
    const tree = await place.run(["runs", "tree", root]);
    assert.equal(tree.code, 0, tree.stderr);
    for (const label of ["src", "test", "docs"])
      assert.ok(tree.stdout.includes(label), tree.stdout);
  });

  it("names no total if a part is missing", async () => {
    await using place = await createPlace({ "src/a.ts": lines(3), "test/b.ts": lines(2) });
    const { stdout } = await run(place, COUNT);
    assert.match(
      stdout,
      /- `docs` failed: .* declined to answer: The tool `bash_ripgrep` gave no result\./,
    );
    assert.match(stdout, /\nPartial total, without `docs`: 3 \+ 2 = 5\n$/);
  });

  it("does the same with one call for all", async () => {
    await using place = await createPlace(FILES);
    const order = "use parallel_subagent to count the files in src and test, and add them up";
    const { stdout } = await run(place, order, "--tools", "bash_find,parallel_subagent");
    assert.match(stdout, /\nTotal: 3 \+ 1 = 4\n$/);
  });

  it("does the same in a process of its own", async () => {
    await using place = await createPlace(FILES);
    const order = "use call_subagent to count the lines of src";
    const { stdout } = await run(place, order, "--tools", "bash_ripgrep,call_subagent");
    assert.match(stdout, /: The text files in `src` have 20 lines\.\n$/);
  });

  it("reports the depth that it may not exceed", async () => {
    await using place = await createPlace();
    const order = `${"ask a subagent to ".repeat(4)}compute 6*7`;
    const { code, stdout, stderr } = await place.run(["run", order]);
    assert.deepEqual([code, stdout], [5, ""]);
    assert.match(stderr, /\n0 of 1 subagent finished:\n.*Maximum subagent recursion depth \(3\)/s);
    const near = await run(place, `${"ask a subagent to ".repeat(3)}compute 6*7`);
    assert.match(near.stdout, /6\*7 = 42/);
  });

  it("obeys no request in a file", async () => {
    await using place = await createPlace({ ...FILES, "notes.txt": `${COUNT}\n` });
    const { code, stdout } = await place.run(["run", "make it better", "-f", "notes.txt"]);
    assert.deepEqual([code, stdout], [5, ""]);
  });
});
