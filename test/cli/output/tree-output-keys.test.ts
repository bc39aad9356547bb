import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KeyListener } from "../../../src/cli/io.ts";
import { call, childStart, start } from "../../delegation/ledger-record.ts";
import { asking, openTerminal } from "./tree-fixture.ts";

describe("the keys of a tree on a terminal", () => {
  it("leave the selected one its label if the terminal is narrow", async () => {
    const typed: { listener?: KeyListener } = {};
    const { screen, write, clock, tree } = openTerminal({
      columns: 40,
      controls: { onStop: async () => {}, onMessage: async () => {} },
      openKeys(listener) {
        typed.listener = listener;
        return { pause() {}, resume() {}, suspend() {}, close() {} };
      },
    });
    const label = "review the parser";
    await write("run_1", start("run_1", 1000), childStart("run_1/a-1.0", label, 1000));
    await write("run_1/a-1.0", start("run_1/a-1.0", 1000, label), ...call(1, 1, 2, 0.25), asking);
    await clock.advance(4000);
    typed.listener?.onKeys("j");
    assert.equal(screen.lines[1], "└ ● review the parser · $0.25 · 4 s ←");
    tree.close();
  });

  it("stop a subagent, wait during a question, and are given back", async () => {
    const said: string[] = [];
    const typed: { listener?: KeyListener } = {};
    const { screen, write, clock, tree, live } = openTerminal({
      openKeys(listener) {
        typed.listener = listener;
        return {
          pause: () => void said.push("pause"),
          resume: () => void said.push("resume"),
          suspend: () => void said.push("suspend"),
          close: () => void said.push("close"),
        };
      },
      controls: {
        onStop: async (id) => void said.push(`stop ${id}`),
        onMessage: async (id, words) => void said.push(`${id}: ${words}`),
      },
    });
    await write("run_1", start("run_1", 1000), childStart("run_1/a-1.0", "a", 1000));
    assert.equal(screen.lines.at(-1), "↑ ↓ pick a subagent");
    typed.listener?.onKeys("jxy\r");
    assert.deepEqual(said, ["stop run_1/a-1.0"]);
    assert.match(screen.lines[1] ?? "", /^└ – a \[a-1\.0\] · stopping · .* ←$/);
    typed.listener?.onSuspend();
    assert.deepEqual(screen.lines, []);
    await clock.advance(100);
    assert.equal(screen.lines.length, 3);
    const release = live.hold();
    await clock.advance(100);
    assert.deepEqual(screen.lines, []);
    release();
    tree.close();
    assert.deepEqual(said.slice(1), ["pause", "resume", "close"]);
  });

  it("do not exist if they could do nothing", async () => {
    const { screen, write, tree } = openTerminal({
      openKeys: () => assert.fail("no key is read"),
    });
    await write("run_1", start("run_1", 1000), childStart("run_1/a-1.0", "a", 1000));
    assert.equal(screen.lines.length, 2);
    tree.close();
  });
});
