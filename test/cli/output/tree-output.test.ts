import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Output } from "../../../src/cli/io.ts";
import { createTextOutput } from "../../../src/cli/output/text-output.ts";
import { createTreeOutput, type TreeProjection } from "../../../src/cli/output/tree-output.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/index.ts";
import { call, childEnd, childStart, end, start, tool } from "../../delegation/ledger-record.ts";
import { createTerminalScreen, type TerminalScreen } from "./terminal-screen.ts";

interface Bench {
  readonly tree: TreeProjection;
  readonly clock: ManualClock;
  /** Writes events of one run as one batch. */
  write(run_id: string, ...events: readonly RunEvent[]): Promise<void>;
}

function open(
  streams: { readonly stdout: Output; readonly stderr: Output },
  flags: { readonly quiet?: boolean; readonly brief?: boolean } = {},
): Bench {
  const clock = createManualClock(1000);
  const off = { brief: false, quiet: false, isStructured: false, doneMarker: false };
  const tree = createTreeOutput({ ...off, ...flags, ...streams, clock }, createTextOutput);
  const next = new Map<string, number>();
  return {
    tree,
    clock,
    async write(run_id, ...events) {
      const first = next.get(run_id) ?? 0;
      next.set(run_id, first + events.length);
      await tree.write(events.map((event, at) => ({ run_id, seq: first + at, event })));
    },
  };
}

function openPipe(flags = {}): Bench & { readonly said: { stdout: string; stderr: string } } {
  const said = { stdout: "", stderr: "" };
  const pipe = (name: "stdout" | "stderr"): Output => ({
    isTerminal: false,
    columns: 80,
    write: (text) => {
      said[name] += text;
    },
  });
  return { ...open({ stdout: pipe("stdout"), stderr: pipe("stderr") }, flags), said };
}

function openTerminal(flags = {}): Bench & { readonly screen: TerminalScreen } {
  const screen = createTerminalScreen(100);
  return { ...open({ stdout: screen.output, stderr: screen.output }, flags), screen };
}

const [toolStart] = tool("read", 1600, 1700) as [RunEvent, RunEvent];
const text = (delta: string): RunEvent => ({ type: "text_delta", index: 0, part: 0, delta });

describe("subagents on a pipe", () => {
  it("are a line at the start and one at the end, and the answer stays the root's", async () => {
    const { said, write } = openPipe();
    await write("run_1", start("run_1", 1000), childStart("run_1/a", "count", 1100));
    await write("run_1/a", start("run_1/a", 1100, "count"), ...call(1, 1200, 1300, 0));
    await write("run_1/a", text("not the answer"), ...call(2, 1400, 1500, 0), end(2300));
    await write("run_1", childEnd("run_1/a", "count"), text("The answer."), end(2400));
    assert.equal(said.stdout, "The answer.\n");
    assert.deepEqual(said.stderr.split("\n").slice(0, 2), [
      "subagent count: started",
      "subagent count: completed · 2 turns · 2,468 tokens · 1.2 s · free",
    ]);
    assert.equal(said.stderr.match(/subagent count/g)?.length, 2, "each is said once");
    const sum = "with 1 subagent: 2 turns · 0 tool calls · 2,468 tokens · free";
    assert.equal(said.stderr.trimEnd().split("\n").at(-1), sum);
  });

  it("stand below the one that asked for them, and say why they did not complete", async () => {
    const { said, write } = openPipe();
    await write("run_1", start("run_1", 1), childStart("run_1/a", "a", 1));
    await write("run_1/a", start("run_1/a", 1, "a"), childStart("run_1/a/b", "b", 2));
    const why = { ending: "failed", message: "The key was\nrefused." } as const;
    await write("run_1/a", childEnd("run_1/a/b", "b", { ...why, cost_usd: null, at_ms: 1002 }));
    assert.deepEqual(said.stderr.trimEnd().split("\n"), [
      "subagent a: started",
      "  subagent b: started",
      "  subagent b: failed · The key was refused. · 2 turns · 1,234 tokens · 1.0 s · cost unknown",
    ]);
  });

  it("that never ended are told of before the root's ending", async () => {
    const { said, write } = openPipe();
    await write("run_1", start("run_1", 1), childStart("run_1/a", "a", 1), end(9));
    assert.match(said.stderr, /^subagent a: started\nsubagent a: no ending\n1 turn/);
  });

  it("are hidden where the user asked for quiet or brief", async () => {
    for (const flags of [{ quiet: true }, { brief: true }]) {
      const { said, write } = openPipe(flags);
      await write("run_1", start("run_1", 1), childStart("run_1/a", "a", 1));
      await write("run_1", childEnd("run_1/a", "a"));
      assert.equal(said.stderr, "", JSON.stringify(flags));
    }
  });
});

describe("subagents on a terminal", () => {
  it("have a line each while they run, drawn over in place, and one that stays", async () => {
    const { screen, write, clock, tree } = openTerminal();
    await write("run_1", start("run_1", 1000), text("Let me ask."));
    await write("run_1", childStart("run_1/a", "a", 1000), childStart("run_1/b", "b", 1000));
    assert.deepEqual(screen.lines, [
      "Let me ask.",
      "  starting a · 0 tokens",
      "  starting b · 0 tokens",
    ]);
    await write("run_1/a", start("run_1/a", 1000, "a"), ...call(1, 1, 2, 0.25), toolStart);
    await clock.advance(250);
    assert.deepEqual(screen.lines.slice(1), [
      "  running a · read a.txt · 1,234 tokens · $0.25",
      "  starting b · 0 tokens",
    ]);
    await write("run_1/a", end(2000));
    assert.deepEqual(screen.lines.slice(1), [
      "subagent a: completed · 1 turn · 1,234 tokens · 1.0 s · $0.25",
      "  starting b · 0 tokens",
    ]);
    await write("run_1", childEnd("run_1/b", "b"));
    await write("run_1", text("Done."), end(3000));
    assert.deepEqual(screen.lines.slice(1, 4), [
      "subagent a: completed · 1 turn · 1,234 tokens · 1.0 s · $0.25",
      "subagent b: completed · 2 turns · 1,234 tokens · 2.0 s · free",
      "Done.",
    ]);
    assert.equal(clock.sleeping, 0, "nothing ticks when nothing runs");
    tree.close();
  });

  it("say how long they are silent, past five seconds", async () => {
    const { screen, write, clock, tree } = openTerminal();
    await write("run_1", start("run_1", 1000), childStart("run_1/a", "a", 1000));
    await write("run_1/a", start("run_1/a", 1000, "a"), toolStart);
    await clock.advance(5000);
    assert.deepEqual(screen.lines, ["  running a · read a.txt · 0 tokens"]);
    await clock.advance(2250);
    assert.deepEqual(screen.lines, ["  running a · read a.txt · 0 tokens · silent 7 s"]);
    await write("run_1/a", text("x"));
    await clock.advance(250);
    assert.deepEqual(screen.lines, ["  running a · answering · 0 tokens"]);
    tree.close();
    assert.deepEqual(screen.lines, []);
    assert.equal(clock.sleeping, 0);
  });

  it("stand in the order of the tree, indented, and no more than fit", async () => {
    const { screen, write, tree } = openTerminal();
    const ids = Array.from({ length: 20 }, (_, at) => `run_1/${at}`);
    await write("run_1", start("run_1", 1), ...ids.map((id) => childStart(id, id.slice(6), 1)));
    await write("run_1/0", start("run_1/0", 1, "0"), childStart("run_1/0/x", "x", 1));
    assert.deepEqual(screen.lines.slice(0, 3), [
      "  running 0 · 0 tokens",
      "    starting x · 0 tokens",
      "  starting 1 · 0 tokens",
    ]);
    assert.equal(screen.lines.length, 13);
    assert.equal(screen.lines.at(-1), "… and 9 more");
    tree.close();
  });

  it("make way for what the root says meanwhile", async () => {
    const { screen, write, tree } = openTerminal();
    await write("run_1", start("run_1", 1), childStart("run_1/a", "a", 1));
    await write("run_1", toolStart);
    assert.deepEqual(screen.lines, ['read({"path":"a.txt"})', "  starting a · 0 tokens"]);
    await write("run_1", text("half a line"));
    assert.deepEqual(screen.lines.slice(1), ["half a line"]);
    await write("run_1", childStart("run_1/b", "b", 1));
    assert.deepEqual(screen.lines.slice(1), [
      "half a line",
      "  starting a · 0 tokens",
      "  starting b · 0 tokens",
    ]);
    tree.close();
  });

  it("let no control character of a model through", async () => {
    const evil = "\x1b[2Ja\x9b\u202eb\x1b]0;owned\x07\nc";
    const { screen, write, clock, tree } = openTerminal();
    await write("run_1", start("run_1", 1), childStart("run_1/a", evil, 1));
    await write("run_1/a", start("run_1/a", 1, evil), { ...toolStart, name: evil } as RunEvent);
    await clock.advance(250);
    await write("run_1/a", end(5, { ending: "failed", message: evil }));
    tree.close();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none but our own may be there
    const theirs = screen.written.replaceAll(/\x1b\[(?:22?m|\d*A|J)|[\n\r]/g, "");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left
    assert.doesNotMatch(theirs, /[\x00-\x1f\x7f-\x9f\u202e]/);
    assert.ok(!theirs.includes("owned"));
  });

  it("are not drawn where the user asked for quiet", async () => {
    const { screen, write, clock } = openTerminal({ quiet: true });
    await write("run_1", start("run_1", 1), childStart("run_1/a", "a", 1));
    assert.equal(screen.written, "");
    assert.equal(clock.sleeping, 0);
  });
});
