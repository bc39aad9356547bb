import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import {
  asked,
  call,
  childEnd,
  childStart,
  decided,
  end,
  start,
  tool,
} from "../../delegation/ledger-record.ts";
import { asking, openPipe, openTerminal, orders, text } from "./tree-fixture.ts";

const [toolStart] = tool("read", 1600, 1700) as [RunEvent, RunEvent];

describe("subagents on a pipe", () => {
  it("are a line at the start and one at the end, and the answer stays the root's", async () => {
    const { said, write } = openPipe();
    await write("run_1", start("run_1", 1000), childStart("run_1/a", "count", 1100));
    await write("run_1/a", start("run_1/a", 1100, "count"), ...call(1, 1200, 1300, 0));
    await write("run_1/a", text("not the answer"), ...call(2, 1400, 1500, 0), end(2300));
    await write("run_1", childEnd("run_1/a", "count"), text("The answer."), end(2400));
    assert.equal(said.stdout, "The answer.\n");
    assert.deepEqual(said.stderr.split("\n").slice(0, 2), [
      "subagent count [a]: started",
      "subagent count [a]: completed · 2 turns · 2,468 tokens · 1.2 s · free",
    ]);
    assert.equal(said.stderr.match(/subagent count/g)?.length, 2, "each is said once");
    const sum = "with 1 subagent: 2 turns · 0 tool calls · 2,468 tokens · free";
    assert.equal(said.stderr.trimEnd().split("\n").at(-1), sum);
  });

  it("are named by their place in the tree, and say why they did not complete", async () => {
    const { said, write } = openPipe();
    await write("run_1", start("run_1", 1), childStart("run_1/a", "a", 1));
    await write("run_1/a", start("run_1/a", 1, "a"), childStart("run_1/a/b", "b", 2));
    const why = { ending: "failed", message: "The key was\nrefused." } as const;
    await write("run_1/a", childEnd("run_1/a/b", "b", { ...why, cost_usd: null, at_ms: 1002 }));
    assert.deepEqual(said.stderr.trimEnd().split("\n"), [
      "subagent a [a]: started",
      "subagent b [a/b]: started",
      "subagent b [a/b]: failed · The key was refused. · 2 turns · 1,234 tokens · 1.0 s · cost unknown",
    ]);
  });

  it("that wait for a person's answer are a line that says how to give it", async () => {
    const { said, write } = openPipe();
    await write("run_1", start("run_1", 1), asked("shell", 1, '{"command":"ls\\u001b[2J"}'));
    await write("run_1", childStart("run_1/a", "a", 1));
    await write("run_1/a", start("run_1/a", 1, "a"), asked("write", 1));
    assert.deepEqual(said.stderr.trimEnd().split("\n"), [
      "run: waits for approval: shell ls (offshoot runs approve run_1 tool:1.0)",
      "subagent a [a]: started",
      "subagent a [a]: waits for approval: write a.txt (offshoot runs approve run_1/a tool:1.0)",
    ]);
  });

  it("that never ended are reported before the root's ending", async () => {
    const { said, write } = openPipe();
    await write("run_1", start("run_1", 1), childStart("run_1/a", "a", 1), end(9));
    assert.match(said.stderr, /^subagent a \[a\]: started\nsubagent a \[a\]: no ending\n0 turns/);
  });

  it("are hidden with --quiet and --brief", async () => {
    for (const flags of [{ quiet: true }, { brief: true }]) {
      const { said, write } = openPipe(flags);
      await write("run_1", start("run_1", 1), childStart("run_1/a", "a", 1));
      await write("run_1", childEnd("run_1/a", "a"));
      assert.equal(said.stderr, "", JSON.stringify(flags));
    }
  });
});

describe("a run on a terminal", () => {
  it("shows what it waits for, how long, and what is left of its budget", async () => {
    const { screen, write, clock, tree } = openTerminal();
    const limits = { usd: 0.5, tokens: 10_000 };
    const began = start("run_1", 1000) as Extract<RunEvent, { type: "run_start" }>;
    const settings = { ...began.settings, limits };
    const silent = call(1, 1000, 1000, 0.1).filter(({ type }) => type !== "text_delta");
    await write("run_1", { ...began, settings }, ...silent, asking);
    await clock.advance(200);
    assert.deepEqual(screen.lines, [], "a quick run needs no tree");
    await clock.advance(1800);
    assert.deepEqual(screen.lines, [
      "● root · asking the model · 1,234 tokens · $0.10 · $0.40 left · 8,766 tokens left · 2 s",
    ]);
    await clock.advance(8000);
    assert.match(screen.lines[0] ?? "", / · 10 s · silent 10 s$/);
    await write("run_1", text("Hello"));
    assert.deepEqual(screen.lines, ["Hello"], "the answer takes its place");
    await write("run_1", end(3000));
    assert.equal(clock.sleeping, 0, "nothing ticks when nothing runs");
    tree.close();
  });
});

describe("subagents on a terminal", () => {
  it("have a line each while they wait and run, redrawn in place, and one that stays", async () => {
    const { screen, write, clock, tree } = openTerminal();
    await write("run_1", start("run_1", 1000), text("Let me ask."));
    await write("run_1", ...orders("a", "b"), childStart("run_1/a", "a", 1000));
    assert.deepEqual(screen.lines, [
      "Let me ask.",
      "● root · 1 running, 1 queued · 0 tokens · 0 s",
      "├ ○ a [a] · starting · 0 tokens · 0 s",
      "└ ○ b · queued",
    ]);
    await write("run_1/a", start("run_1/a", 1000, "a"), ...call(1, 1, 2, 0.25), toolStart);
    await write("run_1", childStart("run_1/b", "b", 1000));
    await clock.advance(1000);
    assert.deepEqual(screen.lines.slice(1), [
      "● root · 2 running · 1,234 tokens · $0.25 · 1 s",
      "├ ● a [a] · read a.txt · 1,234 tokens · $0.25 · 1 s",
      "└ ○ b [b] · starting · 0 tokens · 1 s",
    ]);
    await write("run_1/a", end(2000));
    await write("run_1", childEnd("run_1/b", "b", { ending: "failed", message: "It broke." }));
    await clock.advance(100);
    assert.deepEqual(screen.lines.slice(1, 3), [
      "✓ a [a]: completed · 1 turn · 1,234 tokens · 1.0 s · $0.25",
      "✗ b [b]: failed · It broke. · 2 turns · 1,234 tokens · 2.0 s · free",
    ]);
    const [good, bad] = screen.looks.slice(1, 3).map(([sign]) => sign?.colour);
    assert.deepEqual([good, bad], [32, 31]);
    await write("run_1", text("Done."), end(3000));
    assert.equal(screen.lines[3], "Done.");
    assert.equal(clock.sleeping, 0, "nothing ticks when nothing runs");
    tree.close();
  });

  it("that were cancelled are counted as stopped, and not as failed", async () => {
    const { screen, write, clock, tree } = openTerminal();
    const begun = ["a", "b", "c"].map((label) => childStart(`run_1/${label}`, label, 1000));
    await write("run_1", start("run_1", 1000), ...begun);
    await write("run_1", childEnd("run_1/a", "a", { ending: "cancelled" }));
    await write("run_1", childEnd("run_1/b", "b", { ending: "failed" }));
    await clock.advance(100);
    assert.match(screen.lines.at(-2) ?? "", /^● root · 1 running, 1 stopped, 1 failed · /);
    tree.close();
  });

  it("say how long they are silent, if they wait for a model or a tool themselves", async () => {
    const { screen, write, clock, tree } = openTerminal();
    await write("run_1", start("run_1", 1000), toolStart, childStart("run_1/a", "a", 1000));
    await write("run_1/a", start("run_1/a", 1000, "a"), toolStart);
    await write("run_1/a", childStart("run_1/a/b", "b", 1000));
    await write("run_1/a/b", start("run_1/a/b", 1000, "b"), asking);
    await clock.advance(7000);
    assert.deepEqual(screen.lines.slice(1), [
      "● root · 2 running · 0 tokens · 7 s",
      "└ ● a [a] · waits for 1 subagent · 0 tokens · 7 s",
      "  └ ● b [a/b] · asking the model · 0 tokens · 7 s · silent 7 s",
    ]);
    await write("run_1/a/b", { type: "notice", code: "wait", message: "Waiting for a place." });
    await clock.advance(8000);
    const waiting = "  └ ● b [a/b] · Waiting for a place. · 0 tokens · 15 s";
    assert.equal(screen.lines.at(-1), waiting, "it says itself what it waits for");
    tree.close();
    assert.equal(screen.lines.length, 1);
    assert.equal(clock.sleeping, 0);
  });

  it("say what they wait for a person's answer about, and are not silent meanwhile", async () => {
    const { screen, write, clock, tree } = openTerminal();
    await write("run_1", start("run_1", 1000), toolStart, childStart("run_1/a", "a", 1000));
    await write("run_1/a", start("run_1/a", 1000, "a"), toolStart, asked("write", 1000));
    await clock.advance(7000);
    const asks = "└ ● a [a] · waits for approval: write a.txt · 0 tokens · 7 s";
    assert.equal(screen.lines.at(-1), asks);
    await write("run_1/a", decided("write", 8000));
    await clock.advance(1000);
    assert.equal(screen.lines.at(-1), "└ ● a [a] · read a.txt · 0 tokens · 8 s");
    tree.close();
  });

  it("are shown below their own parent, also if it has ended", async () => {
    const { screen, write, clock, tree } = openTerminal();
    await write("run_1", start("run_1", 1), childStart("run_1/a", "a", 1));
    await write("run_1", childStart("run_1/b", "b", 1));
    await write("run_1/a", childStart("run_1/a/x", "x", 1));
    await write("run_1", childEnd("run_1/a", "a"));
    await clock.advance(100);
    assert.deepEqual(screen.lines.slice(2), [
      "├ ✓ a [a]",
      "│ └ ○ x [a/x] · starting · 0 tokens · 1 s",
      "└ ○ b [b] · starting · 0 tokens · 1 s",
    ]);
    await write("run_1/a", childEnd("run_1/a/x", "x"));
    await clock.advance(100);
    assert.match(screen.lines[1] ?? "", /^✓ x \[a\/x\]: completed/);
    assert.deepEqual(screen.lines.slice(3), ["└ ○ b [b] · starting · 0 tokens · 1 s"]);
    tree.close();
  });

  it("are as many as fit, and the others are counted", async () => {
    const { screen, write, clock, tree } = openTerminal({ rows: 17 });
    const labels = Array.from({ length: 24 }, (_, at) => String(at));
    await write("run_1", start("run_1", 1000), ...orders(...labels));
    const begun = labels.slice(0, 4).map((label) => childStart(`run_1/${label}`, label, 1000));
    await write("run_1", ...begun);
    await clock.advance(100);
    // Half of the terminal, with a line for the keys.
    assert.equal(screen.lines.length, 7);
    assert.equal(screen.lines[0], "● root · 4 running, 20 queued · 0 tokens · 0 s");
    assert.deepEqual(screen.lines.slice(-3), [
      "├ ○ 3 [3] · starting · 0 tokens · 0 s",
      "├ ○ 4 · queued",
      "└ and 19 more wait",
    ]);
    tree.close();
  });

  it("shorten the label and not the figures where the terminal is narrow", async () => {
    const { screen, write, clock, tree } = openTerminal({ columns: 40 });
    const label = "review of the parser";
    await write("run_1", start("run_1", 1000), childStart("run_1/a-1.0", label, 1000));
    await write("run_1/a-1.0", start("run_1/a-1.0", 1000, label), ...call(1, 1, 2, 0.25), asking);
    await clock.advance(4000);
    assert.deepEqual(screen.lines, [
      "● root · 1.2k tok · $0.25 · 4 s",
      "└ ● review of… · 1.2k tok · $0.25 · 4 s",
    ]);
    await clock.advance(6000);
    assert.match(screen.lines[1] ?? "", /^└ ● .*… · 1\.2k · \$0\.25 · silent 10 s$/);
    const why = { ending: "failed", message: "The model broke down in the middle." } as const;
    await write("run_1/a-1.0", end(2000, why));
    await clock.advance(100);
    assert.deepEqual(screen.lines.slice(0, 2), [
      "✗ review of… · 1.2k tok · $0.25 · 1.0 s",
      "  The model broke down in the middle.",
    ]);
    tree.close();
  });

  it("are words and no signs without colours", async () => {
    const { screen, write, clock, tree } = openTerminal({ isStyled: false });
    await write("run_1", start("run_1", 1000), ...orders("a", "b"));
    await write("run_1", childStart("run_1/a", "a", 1000));
    await write("run_1/a", start("run_1/a", 1000, "a"), toolStart);
    await clock.advance(1000);
    assert.deepEqual(screen.lines, [
      "running root · 1 running, 1 queued · 0 tokens · 1 s",
      "  running a [a] · read a.txt · 0 tokens · 1 s",
      "  queued b",
    ]);
    await write("run_1/a", end(2000));
    await clock.advance(100);
    assert.match(screen.lines[0] ?? "", /^subagent a \[a\]: completed · /);
    assert.ok(!screen.written.includes("\x1b[2m"));
    tree.close();
  });

  it("make way for the root's output", async () => {
    const { screen, write, clock, tree } = openTerminal();
    await write("run_1", start("run_1", 1000), childStart("run_1/a", "a", 1000));
    await write("run_1", toolStart);
    await clock.advance(100);
    const lines = ["● root · 1 running · 0 tokens · 0 s", "└ ○ a [a] · starting · 0 tokens · 0 s"];
    assert.deepEqual(screen.lines, ['read({"path":"a.txt"})', ...lines]);
    await write("run_1", text("half a line"));
    assert.deepEqual(screen.lines.slice(1), ["half a line"]);
    await write("run_1", childStart("run_1/b", "b", 1000));
    await clock.advance(100);
    assert.deepEqual(screen.lines.slice(1, 3), [
      "half a line",
      "● root · 2 running · 0 tokens · 0 s",
    ]);
    tree.close();
  });

  it("are drawn ten times a second at most, and a thousand of them cost the same", async () => {
    const { screen, write, clock, tree } = openTerminal();
    const ids = Array.from({ length: 1000 }, (_, at) => `run_1/${at}`);
    await write("run_1", start("run_1", 1000), ...ids.map((id) => childStart(id, id, 1000)));
    assert.equal(screen.lines.length, 10);
    assert.equal(screen.lines.at(-1), "└ and 992 more run");
    const before = screen.written.length;
    for (const id of ids) await write(id, start(id, 1000, id), ...call(1, 1, 2, 0));
    assert.equal(screen.written.length, before, "nothing is drawn between two frames");
    await clock.advance(1000);
    const bytes = screen.written.length - before;
    assert.ok(bytes < 10 * 10 * 120, String(bytes));
    tree.close();
  });

  it("are drawn at once when the terminal changes its size, and leave no copy", async () => {
    const { screen, write, clock, tree } = openTerminal({ columns: 120, rows: 30 });
    const label = "review of the parser and of all its tests";
    const ids = ["a-1.0", "b-1.1", "c-1.2"].map((name) => `run_1/${name}`);
    await write("run_1", start("run_1", 1000), ...ids.map((id) => childStart(id, label, 1000)));
    for (const id of ids) await write(id, start(id, 1000, label), ...call(1, 1, 2, 0.25), asking);
    await clock.advance(1000);
    for (const [columns, rows] of [
      [40, 30],
      [200, 30],
      [120, 6],
      [60, 30],
    ] as const) {
      screen.resize(columns, rows);
      const { lines } = screen;
      assert.equal(lines.filter((text) => text.startsWith("● root")).length, 1, lines.join("\n"));
      assert.ok(
        lines.every((text) => text.length < columns && /^[●├└]/.test(text)),
        lines.join("\n"),
      );
    }
    tree.close();
    assert.deepEqual(screen.lines, []);
  });

  it("that wait say what for, as the log tells", async () => {
    const { screen, write, clock, tree } = openTerminal({ columns: 80 });
    await write("run_1", start("run_1", 1000), ...orders("a", "b", "c"));
    const children = ["b", "c"].map((name) => ({ child_id: `run_1/${name}-1.0`, label: name }));
    await write("run_1", { type: "child_queue", why: "budget", children, at_ms: 1000 });
    await clock.advance(400);
    assert.deepEqual(screen.lines.slice(1), [
      "├ ○ a · queued",
      "├ ○ b [b-1.0] · queued for budget",
      "└ ○ c [c-1.0] · queued for budget",
    ]);
    tree.close();
  });

  it("let no control character of a model through", async () => {
    const evil = "\x1b[2Ja\x9b\u202eb\x1b]0;owned\x07\nc";
    const { screen, write, clock, tree } = openTerminal();
    await write("run_1", start("run_1", 1), ...orders(evil), childStart("run_1/a", evil, 1));
    await write("run_1/a", start("run_1/a", 1, evil), { ...toolStart, name: evil } as RunEvent);
    await clock.advance(250);
    await write("run_1/a", end(5, { ending: "failed", message: evil }));
    tree.close();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none but our own may be there
    const own = /\x1b\[(?:\d+m|\d*A|[BCDJK]|\?7[hl])|\x1b[78]|[\n\r]/g;
    const theirs = screen.written.replaceAll(own, "");
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
