import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { toPlain } from "../../../src/cli/output/live-block.ts";
import { TreeKeys } from "../../../src/cli/output/tree-keys.ts";

function open(names: readonly string[] = ["a-1.0", "b-1.1", "c-1.2"]) {
  const said: string[] = [];
  const targets = names.map((name) => ({ id: `run/${name}`, name }));
  const keys = new TreeKeys({
    list: () => targets,
    onChange: () => {},
    async onStop(id) {
      said.push(`stop ${id}`);
      if (id.endsWith("c-1.2")) throw new Failure("conflict", "It is another's.");
    },
    onMessage: async (id, text) => void said.push(`${id}: ${text}`),
  });
  const hint = (columns = 80): string | undefined => {
    const line = keys.hint(columns, true);
    return line && toPlain(line);
  };
  return { keys, said, targets, hint };
}

const UP = "\x1b[A";
const DOWN = "\x1b[B";
const ESC = "\x1b";

describe("the keys of a live tree", () => {
  it("select one below or above the one before, and stop at the ends", () => {
    const { keys } = open();
    const picked: (string | undefined)[] = [];
    for (const key of [DOWN, "j", DOWN, DOWN, UP, "k", "k", ESC, UP]) {
      keys.press(key);
      picked.push(keys.pickedId?.slice(4));
    }
    const a = "a-1.0";
    const b = "b-1.1";
    const c = "c-1.2";
    assert.deepEqual(picked, [a, b, c, c, b, a, a, undefined, c]);
  });

  it("stop the selected one when that is confirmed, and only then", () => {
    const { keys, said, hint } = open();
    keys.press("xy\r");
    assert.deepEqual(said, [], "nothing is picked");
    keys.press("jx");
    assert.equal(hint(), "Stop a-1.0 and all below it? y, Enter");
    for (const other of ["n", "\r", ESC, "x", "yy", "yn", `y${ESC}`]) keys.press(`${other}x`);
    assert.deepEqual(said, []);
    keys.press("y");
    assert.deepEqual([said, hint()], [[], "Enter stops a-1.0 and all below it"]);
    keys.press("\r");
    assert.deepEqual(said, ["stop run/a-1.0"]);
    assert.equal(hint(), "Stopping a-1.0 · x stop · m message · Esc back");
  });

  it("let text that is typed ahead stop and reach no subagent", () => {
    for (const typed of ["make xyz\r", "make proxy\r", "check the galaxy\r", "jq .max x.json\r"]) {
      const { keys, said } = open();
      for (const key of typed) keys.press(key);
      assert.deepEqual([typed, said, keys.pickedId], [typed, [], undefined]);
    }
  });

  it("leave a message as it was typed and corrected, and none that is empty or was left", () => {
    const { keys, said, hint } = open();
    keys.press("jm");
    assert.equal(hint(), "to a-1.0: _ (Enter sends, Esc leaves)");
    keys.press("no\x15Looc\x7fk, 漢\x1b[D!\r");
    assert.deepEqual(said, ["run/a-1.0: Look, 漢!"]);
    keys.press("m  \r");
    keys.press(`mnever${ESC}`);
    assert.equal(said.length, 1);
    assert.equal(hint(), "x stop · m message · Esc back");
  });

  it("show the end of a message that is longer than the line", () => {
    const { keys, hint } = open();
    keys.press(`jm${"word ".repeat(30)}end`);
    const shown = hint(40) ?? "";
    assert.match(shown, /^to a-1\.0: ….*end_$/);
    assert.ok(shown.length <= 40, shown);
  });

  it("affect no other subagent when the selected one ends", () => {
    const { keys, said, hint, targets } = open();
    keys.press("jx");
    targets.shift();
    keys.forget("run/a-1.0");
    assert.equal(hint(), "It has ended.");
    keys.press("y\r");
    assert.deepEqual(said, []);
  });

  it("say why a subagent could not be stopped", async () => {
    const { keys, hint } = open(["c-1.2"]);
    keys.press("jxy\r");
    await new Promise(setImmediate);
    assert.match(hint() ?? "", /^It is another's\. · x stop/);
  });

  it("are not offered if there is nothing to select", () => {
    const { keys, hint } = open([]);
    keys.press("jx");
    assert.equal(hint(), undefined);
  });
});
