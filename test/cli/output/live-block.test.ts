import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clipToColumns, createLiveBlock } from "../../../src/cli/output/live-block.ts";
import { createTerminalScreen } from "./terminal-screen.ts";

describe("lines that are drawn over in place", () => {
  it("leave what stood above them, and nothing of the lines before", () => {
    const screen = createTerminalScreen(40);
    const live = createLiveBlock(screen.output);
    screen.output.write("above\n");
    live.draw(["one", "two", "three"]);
    assert.deepEqual(screen.lines, ["above", "one", "two", "three"]);
    live.draw(["four"]);
    assert.deepEqual(screen.lines, ["above", "four"]);
    live.clear();
    live.clear();
    assert.deepEqual(screen.lines, ["above"]);
  });

  it("are not written again when they have not changed", () => {
    const screen = createTerminalScreen(40);
    const live = createLiveBlock(screen.output);
    live.draw(["one"]);
    const before = screen.written;
    live.draw(["one"]);
    assert.equal(screen.written, before);
  });

  it("are cut to the width of the terminal, wide characters counted as two", () => {
    const screen = createTerminalScreen(20);
    const live = createLiveBlock(screen.output);
    live.draw(["x".repeat(100), "漢".repeat(100), "ok"]);
    live.draw(["ok"]);
    assert.deepEqual(screen.lines, ["ok"]);
    assert.equal(clipToColumns("漢字漢字", 6), "漢字…");
    assert.equal(clipToColumns("abc", 3), "abc");
  });

  it("are cleared whole when the terminal has become narrower", () => {
    const screen = createTerminalScreen(40);
    const live = createLiveBlock(screen.output);
    screen.output.write("above\n");
    live.draw(["x".repeat(39)]);
    screen.resize(20);
    live.clear();
    assert.deepEqual(screen.lines, ["above"]);
  });

  it("stay away while they are held", () => {
    const screen = createTerminalScreen(40);
    const live = createLiveBlock(screen.output);
    live.draw(["one"]);
    const release = live.hold();
    live.draw(["two"]);
    assert.deepEqual(screen.lines, []);
    release();
    live.draw(["three"]);
    assert.deepEqual(screen.lines, ["three"]);
  });

  it("are not drawn on a pipe", () => {
    const screen = createTerminalScreen(40);
    createLiveBlock({ ...screen.output, isTerminal: false }).draw(["one"]);
    assert.equal(screen.written, "");
  });
});
