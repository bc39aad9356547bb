import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  clipToWidth,
  createLiveBlock,
  type LiveBlock,
  type StyledLine,
} from "../../../src/cli/output/live-block.ts";
import { createTerminalScreen, type TerminalScreen } from "./terminal-screen.ts";

const line = (text: string): StyledLine => [{ text }];

function open(columns: number): {
  readonly screen: TerminalScreen;
  readonly live: LiveBlock;
  draw(...lines: readonly string[]): void;
} {
  const screen = createTerminalScreen(columns);
  const live = createLiveBlock(screen.output);
  return { screen, live, draw: (...lines) => live.draw(lines.map(line)) };
}

describe("lines that are drawn over in place", () => {
  it("leave the text above them, and nothing of the lines before", () => {
    const { screen, live, draw } = open(40);
    screen.write("above\n");
    draw("one", "two", "three");
    assert.deepEqual(screen.lines, ["above", "one", "two", "three"]);
    draw("four");
    assert.deepEqual(screen.lines, ["above", "four"]);
    live.clear();
    live.clear();
    assert.deepEqual(screen.lines, ["above"]);
  });

  it("are not written again when they have not changed", () => {
    const { screen, draw } = open(40);
    draw("one", "two");
    const before = screen.written;
    draw("one", "two");
    assert.equal(screen.written, before);
    draw("one", "three");
    const frame = screen.written.slice(before.length);
    assert.ok(!frame.includes("one") && frame.includes("three"), JSON.stringify(frame));
    assert.deepEqual(screen.lines, ["one", "three"]);
  });

  it("are below printed lines, which stay", () => {
    const { screen, live, draw } = open(40);
    draw("one", "two");
    live.print([{ text: "ended", look: "good" }]);
    assert.deepEqual(screen.lines, ["one", "two"]);
    draw("two");
    assert.deepEqual(screen.lines, ["ended", "two"]);
    live.print(line("at last"));
    live.clear();
    assert.deepEqual(screen.lines, ["ended", "at last"]);
  });

  it("are cut to the width of the terminal, wide characters counted as two", () => {
    const { screen, draw } = open(20);
    draw("x".repeat(100), "漢".repeat(100), "ok");
    assert.deepEqual(screen.lines, [`${"x".repeat(18)}…`, `${"漢".repeat(9)}…`, "ok"]);
    draw("ok");
    assert.deepEqual(screen.lines, ["ok"]);
    assert.equal(clipToWidth("漢字漢字", 6), "漢字…");
    assert.equal(clipToWidth("abc", 3), "abc");
  });

  it("are cleared whole when the terminal has become narrower", () => {
    const { screen, live, draw } = open(40);
    screen.write("above\n");
    draw("x".repeat(39));
    screen.resize(20);
    live.clear();
    assert.deepEqual(screen.lines, ["above"]);
  });

  const SIZES: readonly (readonly [columns: number, rows: number])[] = [
    ...[
      [40, 20] as const,
      [200, 20] as const,
      [60, 6] as const,
      [200, 3] as const,
      [120, 20] as const,
    ],
    ...[[79, 20] as const, [40, 20] as const, [120, 8] as const, [41, 16] as const],
  ];

  it("leave no copy of themselves, however the terminal's size changes", () => {
    const screen = createTerminalScreen(120, { rows: 20 });
    const live = createLiveBlock(screen.output);
    const above = Array.from({ length: 40 }, (_, at) => `ended ${at}`);
    screen.write(`${above.join("\n")}\n`);
    for (const [frame, [columns, rows]] of [...SIZES, ...SIZES].entries()) {
      const most = Math.floor((screen.output.rows ?? 0) / 2) - 1;
      const tree = Array.from({ length: Math.max(1, most) }, (_, at) => `tree ${frame}.${at} `);
      live.draw(tree.map((text) => line(text.padEnd(79, "x"))));
      assert.equal(screen.lines.filter((text) => text.startsWith("tree ")).length, tree.length);
      screen.resize(columns, rows);
    }
    live.clear();
    assert.deepEqual(screen.lines, above);
  });

  it("scroll nothing away in a terminal that has become lower and has not reported it yet", () => {
    const screen = createTerminalScreen(40, { rows: 10 });
    const size = { columns: 40, rows: 10 };
    const live = createLiveBlock({ ...screen.output, ...size });
    screen.write("above\n");
    live.draw(["one", "two", "three", "four"].map(line));
    screen.resize(40, 3);
    live.draw(["one", "2", "3", "4"].map(line));
    live.clear();
    assert.deepEqual(screen.lines, ["above"]);
  });

  it("are drawn whole again when the terminal has another size", () => {
    const { screen, draw } = open(40);
    draw("one", "two");
    screen.resize(60);
    const before = screen.written.length;
    draw("one", "two");
    assert.match(screen.written.slice(before), /one.*two/s);
    assert.deepEqual(screen.lines, ["one", "two"]);
  });

  it("keep the cursor at their beginning, where a lower terminal takes nothing away", () => {
    const screen = createTerminalScreen(40, { rows: 10 });
    const live = createLiveBlock(screen.output);
    screen.write("above\n");
    live.draw(["one", "two", "three", "four"].map(line));
    screen.resize(40, 2);
    assert.deepEqual(screen.lines, ["above", "one"]);
    live.draw([line("five")]);
    assert.deepEqual(screen.lines, ["above", "five"]);
  });

  it("stay away while they are held, and watchers get a notice", () => {
    const { screen, live, draw } = open(40);
    const told: boolean[] = [];
    live.watchHolds((isHeld) => void told.push(isHeld));
    draw("one");
    const release = live.hold();
    draw("two");
    live.print(line("kept"));
    assert.deepEqual(screen.lines, []);
    const releaseOther = live.hold();
    release();
    assert.deepEqual([live.isHeld, told], [true, [true]]);
    releaseOther();
    draw("three");
    assert.deepEqual(screen.lines, ["kept", "three"]);
    assert.deepEqual(told, [true, false]);
  });

  it("are not drawn before the last frame was taken", async () => {
    const screen = createTerminalScreen(40);
    let take = (): void => {};
    const taken = new Promise<void>((resolve) => {
      take = resolve;
    });
    const write = (text: string): Promise<void> => {
      screen.write(text);
      return taken;
    };
    const live = createLiveBlock({ ...screen.output, write });
    live.draw([line("one")]);
    live.draw([line("two")]);
    assert.deepEqual(screen.lines, ["one"]);
    take();
    await taken;
    live.draw([line("three")]);
    assert.deepEqual(screen.lines, ["three"]);
  });

  it("are not drawn on a pipe", () => {
    const screen = createTerminalScreen(40);
    createLiveBlock({ ...screen.output, isTerminal: false }).draw([line("one")]);
    assert.equal(screen.written, "");
  });
});
