/** A tree of agents as a user sees it: while it runs, and afterwards from the record. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { reply, respond, type Script } from "../../src/testing/index.ts";
import { TERMINAL_LACK, unless } from "../needs.ts";
import { createPlace, type Ended, type Place } from "./command.ts";
import { startOnTerminal } from "./terminal.ts";
import { CHAT, runAt } from "./wires.ts";

const LABELS = ["src", "test", "docs"];

/** A parent that asks three parallel children, each of which reads a file and reports. */
function counting(): Script {
  const lastAsked = ({ items }: ModelRequest): string => {
    const last = items.findLast((item) => item.type === "message" && item.role === "user");
    return last?.type === "message" && typeof last.content === "string" ? last.content : "";
  };
  const hasOutput = ({ items }: ModelRequest): boolean =>
    items.some((item) => item.type === "function_call_output");
  const read = [{ name: "read", arguments: '{"path":"a.txt"}' }];
  const children = LABELS.map((label) => ({
    name: "subagent",
    arguments: JSON.stringify({ label, task_prompt: `Count ${label}.` }),
  }));
  return respond((request) => {
    const asked = lastAsked(request);
    if (asked.startsWith("Count all")) {
      return hasOutput(request) ? reply.text("It is 9.") : reply.calls(children);
    }
    if (asked.startsWith("Count ") && !hasOutput(request)) return reply.calls(read);
    return reply.text("It is 3.");
  });
}

async function run(place: Place, ...flags: string[]): Promise<Ended> {
  await using upstream = await CHAT.start({ engine: counting() });
  const tools = ["--tools", "read,subagent"];
  const ended = await place.run([...runAt(upstream, CHAT, "Count all."), ...tools, ...flags]);
  assert.equal(ended.code, 0, ended.stderr);
  return ended;
}

async function runs(place: Place, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await place.run(["runs", ...words]);
  assert.equal(code, 0, stderr);
  return stdout;
}

describe("a tree while it runs", () => {
  it("is a line at the start and at the end of each child on a pipe", async () => {
    await using place = await createPlace({ "a.txt": "1\n" });
    const { stdout, stderr } = await run(place);
    assert.equal(stdout, "It is 9.\n");
    for (const label of LABELS) {
      const named = `subagent ${label} \\[${label}-1\\.\\d\\]`;
      assert.match(stderr, new RegExp(`${named}: started\n`));
      assert.equal(stderr.split(new RegExp(`${named}: completed · 2 turns · `)).length, 2, stderr);
    }
    assert.match(
      stderr,
      /\nwith 3 subagents: 8 turns · 6 tool calls · [\d,]+ tokens · .+\nrun: run_\w+ .+\n$/,
    );
  });

  it("is every node with its parent as JSON lines", async () => {
    await using place = await createPlace({ "a.txt": "1\n" });
    const { stdout } = await run(place, "--output", "jsonl");
    const events = stdout.trimEnd().split("\n");
    const next = new Map<string, number>();
    for (const line of events) {
      const { run_id, parent_id, path, seq } = JSON.parse(line);
      assert.equal(seq, next.get(run_id) ?? 0, line);
      next.set(run_id, seq + 1);
      const parent = run_id.includes("/") ? run_id.slice(0, run_id.indexOf("/")) : null;
      assert.deepEqual([parent_id, path], [parent, run_id.replace(/^[^/]+/, "/root")], line);
    }
    assert.equal(next.size, 4);
    const last = JSON.parse(events.at(-1) ?? "");
    assert.deepEqual([last.type, last.parent_id], ["run_end", null]);
  });

  it("adds up its children as one JSON document", async () => {
    await using place = await createPlace({ "a.txt": "1\n" });
    const { turns, usage, total } = JSON.parse((await run(place, "--output", "json")).stdout);
    assert.deepEqual([turns, total.runs, total.turns, total.unfinished], [2, 4, 8, 0]);
    assert.ok(total.usage.total_tokens > usage.total_tokens);
  });

  const onTerminal = unless(TERMINAL_LACK);
  it(...onTerminal("is drawn in place on a terminal, and leaves one line a child"), async () => {
    await using place = await createPlace({ "a.txt": "1\n" });
    await using upstream = await CHAT.start({ engine: counting() });
    const args = [...runAt(upstream, CHAT, "Count all."), "--tools", "read,subagent"];
    const terminal = startOnTerminal(place, args);
    await terminal.shows("root");
    await terminal.shows("with 3 subagents");
    assert.equal(await terminal.ended, 0, terminal.screen);
    assert.match(terminal.screen, /\r.\[K.\[C.\[J.\[D/);
    for (const label of LABELS) {
      const ended = new RegExp(`✓ .{5}${label} \\[${label}-1\\.\\d\\].{4}: completed`);
      assert.equal(terminal.screen.split(ended).length, 2, terminal.screen);
    }
  });
});

describe(...unless(TERMINAL_LACK)("the lines of a tree on a terminal"), () => {
  it("makes way for a question, and comes back after its answer", async () => {
    await using place = await createPlace();
    const write = [{ name: "write", arguments: '{"path":"b.txt","content":"x"}' }];
    const order = [{ name: "subagent", arguments: '{"label":"w","task_prompt":"Write it."}' }];
    const engine = respond(({ items }) => {
      const said = JSON.stringify(items);
      if (said.includes("function_call_output")) return reply.text("Done.");
      return said.includes("Write it.") ? reply.calls(write) : reply.calls(order);
    });
    await using upstream = await CHAT.start({ engine });
    const args = [...runAt(upstream, CHAT, "Ask one."), "--tools", "write,subagent"];
    const terminal = startOnTerminal(place, args);
    await terminal.shows("[C]ancel the whole run: ");
    assert.match(terminal.screen, /\r.\[K.\[C.\[J.\[D\r\nTool Call: write/);
    terminal.type("y\n");
    await terminal.shows("completed");
    assert.equal(await terminal.ended, 0, terminal.screen);
  });

  it("shows one question if its answer is for the whole tree", async () => {
    await using place = await createPlace();
    const toWrite = (label: string) => JSON.stringify({ path: `${label}.txt`, content: "x" });
    const orders = LABELS.map((label) => ({
      name: "subagent",
      arguments: JSON.stringify({ label, task_prompt: `Write ${label}.` }),
    }));
    const engine = respond(({ items }) => {
      const said = JSON.stringify(items);
      if (said.includes("function_call_output")) return reply.text("Done.");
      const label = LABELS.find((one) => said.includes(`Write ${one}.`));
      if (label === undefined) return reply.calls(orders);
      return reply.calls([{ name: "write", arguments: toWrite(label) }]);
    });
    await using upstream = await CHAT.start({ engine });
    const args = [...runAt(upstream, CHAT, "Ask all."), "--tools", "write,subagent"];
    const terminal = startOnTerminal(place, args);
    await terminal.shows("[C]ancel the whole run: ");
    terminal.type("q\n");
    await terminal.shows("Type y, n (or n and why), a, t or c, then Enter.");
    terminal.type("t\n");
    assert.equal(await terminal.ended, 0, terminal.screen);
    assert.equal(terminal.screen.split("Tool Call: write").length, 2, terminal.screen);
  });
});

describe("a tree from the record", () => {
  it("is shown, costed and exported by its id, by the beginning of it, and by a child's", async () => {
    await using place = await createPlace({ "a.txt": "1\n" });
    await run(place);
    const ids = await place.runIds();
    const root = ids.find((id) => !id.includes("/")) ?? "";
    const child = ids.find((id) => id.includes("/src-")) ?? "";

    const tree = await runs(place, "tree", root.slice(0, -2));
    for (const label of LABELS) {
      assert.match(tree, new RegExp(`[├└]─ ${label} \\[${label}-1\\.\\d\\]: completed · 2 turns`));
    }
    assert.match(tree, /\ntotal: 4 runs · 8 turns · 6 tool calls/);
    assert.equal(JSON.parse(await runs(place, "tree", root, "--json")).children.length, 3);
    assert.match(await runs(place, "tree", child), /^run_.*src/);
    assert.match(
      await runs(place, "show", child),
      new RegExp(`run {6}${child}\nname {5}src \\[src-1\\.0\\]\nending {3}completed`),
    );

    const { rows } = JSON.parse(await runs(place, "cost", root, "--json"));
    const keys = rows.map(({ key }: { key: string }) => key);
    assert.deepEqual(keys.sort(), ["docs", "root", "src", "test"]);
    assert.match(await runs(place, "cost", "--by", "tool"), /read +3 +0 /);

    const session = await runs(place, "export", root);
    for (const heading of [
      "# Session",
      "## Model",
      "## User Prompt",
      "## Subagent docs [docs-1.2]",
    ]) {
      assert.ok(session.includes(`\n${heading}\n`) || session.startsWith(`${heading}\n`), heading);
    }
    const lines = (await runs(place, "export", root, "--format", "jsonl")).trimEnd().split("\n");
    const shown = await Promise.all(ids.map(async (id) => (await place.show(id)).events.length));
    assert.equal(
      lines.length,
      shown.reduce((sum, count) => sum + count),
    );
  });
});
