/** What people complain about in tools that delegate, a number each; docs/complaints.md lists them all. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import { parseRule } from "../../src/index.ts";
import { reply } from "../../src/testing/index.ts";
import type { Question } from "../../src/tools/gate/ask.ts";
import {
  asksFor,
  COUNTER,
  calling,
  callingForEver,
  envelopesIn,
  eventsOfType,
  playing,
  spawning,
  toCalls,
} from "../delegation/family.ts";
import { startTree } from "../delegation/tree-fixture.ts";

const READING = callingForEver("read", { path: "a.txt" });
const FILES = { "a.txt": "hello", "secret.txt": "TOP" };
const PRICED = [
  { vendor: "custom", name: "test", price: { input: 1, cached: undefined, output: 2 } },
];

describe("complaints about what delegation costs", () => {
  it("1: a child has limits by default, and keeps them", async (t) => {
    const tree = await startTree(t, playing({ go: calling(spawning("a")), a: READING }), {
      files: FILES,
    });
    const { events } = await tree.run({ limits: { ...NO_LIMITS, tokens: 2_000_000 } });
    const [start] = eventsOfType(events, "child_start");
    assert.deepEqual(
      [start?.effective["max_turns"], start?.effective["timeout_ms"]],
      [10, 1_800_000],
    );
    const limits = start?.effective["limits"] as { readonly tokens: number };
    assert.ok(limits.tokens > 0 && limits.tokens <= 1_000_000, "half of what is left at most");
    assert.equal(asksFor(tree.upstream.requests, "a"), 10);
  });

  it("2: a task that is forwarded for ever ends at the depth", async (t) => {
    const again = calling(spawning("again"));
    const tree = await startTree(t, playing({ go: again, again }));
    const { end } = await tree.run();
    assert.deepEqual([end.ending, end.spent["children"]], ["completed", 3]);
    assert.equal(tree.observed.filter(({ event }) => event === "depth_limit").length, 1);
  });

  it("2: children that have children end at the number that the whole tree may have", async (t) => {
    const fanOut = calling(spawning("more"), spawning("more"), spawning("more"));
    const tree = await startTree(t, playing({ go: fanOut, more: fanOut }));
    const { end } = await tree.run({ limits: { ...NO_LIMITS, children: 5 } });
    assert.equal(end.ending, "completed");
    assert.ok(Number(end.spent["children"]) <= 5, String(end.spent["children"]));
    const spawned = tree.observed.filter(({ event }) => event === "spawn").length;
    assert.ok(spawned >= 1 && spawned <= 5, String(spawned));
  });

  it("3: a fan-out that may cost more than the threshold is asked about before it starts", async (t) => {
    const asked: Question[] = [];
    const tree = await startTree(t, playing({ go: calling(spawning("a"), spawning("b")) }), {
      overrides: PRICED,
      delegation: { planThresholdUsd: 0.01 },
      ask: async (question) => {
        asked.push(question);
        return "no";
      },
    });
    const { events } = await tree.run();
    assert.equal(asked.length, 2);
    assert.equal(eventsOfType(events, "child_start").length, 0);
    assert.equal(tree.upstream.requests.length, 2, "the parent's turns alone");
  });

  it("4: the record has what each child asked for and had, its tokens and its price", async (t) => {
    const tree = await startTree(t, playing({ go: calling(spawning("a", { agent: "counter" })) }), {
      agents: [COUNTER],
      overrides: PRICED.map((row) => ({ ...row, name: "small" })),
    });
    const { events } = await tree.run();
    const [start] = eventsOfType(events, "child_start");
    const [end] = eventsOfType(events, "child_end");
    assert.deepEqual(
      [start?.requested["model"], start?.effective["model"]],
      ["custom/small", "custom/small"],
    );
    assert.ok(end && end.usage.total_tokens > 0 && Number(end.cost_usd) > 0);
  });

  it("5: a child inherits no conversation, and one that did no work is recorded as such", async (t) => {
    const tree = await startTree(t, playing({ go: calling(spawning("a")) }));
    const { id } = await tree.run();
    const asked = tree.upstream.requests.find(({ text }) => text.includes('"content":"a\\n'));
    assert.ok(asked && !asked.text.includes('"go"'));
    const [end] = eventsOfType(await tree.eventsOf(`${id}/a-1.0`), "run_end");
    assert.equal(end?.tool_calls, 0);
  });

  it("30: the tokens of children count in their parent's budget and are reported as they end", async (t) => {
    const tree = await startTree(t, playing({ go: calling(spawning("a"), spawning("b")) }));
    const { end, events } = await tree.run();
    const below = eventsOfType(events, "child_end").map(({ usage }) => usage.total_tokens);
    assert.equal(below.length, 2);
    assert.equal(
      end.spent["tokens"],
      end.usage.total_tokens + below.reduce((sum, one) => sum + one, 0),
    );
    const told = tree.observed.map(({ event }) => event);
    assert.deepEqual(told.sort(), ["complete", "complete", "spawn", "spawn"]);
  });
});

describe("complaints about what children may do", () => {
  it("6: a child has no tool that its call did not name, whatever it asks for", async (t) => {
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a", { allowed_tools: ["read"] })),
        a: calling(["write", { path: "b.txt", content: "x" }], spawning("nested")),
      }),
      { files: FILES },
    );
    const { id } = await tree.run({ tools: ["read", "write", "subagent"], approve: "auto" });
    const child = await tree.eventsOf(`${id}/a-1.0`);
    const verdicts = eventsOfType(child, "tool_decision").map(({ verdict }) => verdict);
    assert.deepEqual(verdicts, ["deny", "deny"]);
    assert.ok(!existsSync(join(tree.root, "b.txt")));
  });

  it("7: a rule is obeyed three runs deep", async (t) => {
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("one")),
        one: calling(spawning("two")),
        two: calling(spawning("three")),
        three: calling(["read", { path: "secret.txt" }]),
      }),
      { files: FILES, rules: [parseRule("deny", "path(secret.txt)", "the program")] },
    );
    const { id } = await tree.run();
    const deepest = await tree.eventsOf(`${id}/one-1.0/two-1.0/three-1.0`);
    const [decision] = eventsOfType(deepest, "tool_decision");
    assert.deepEqual([decision?.verdict, decision?.by], ["deny", "rule"]);
    assert.ok(!tree.upstream.requests.some(({ text }) => text.includes("TOP")));
  });

  it("21: a call that needs approval is refused at once in a child if there is no user to ask", async (t) => {
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a")),
        a: calling(["write", { path: "b.txt", content: "x" }]),
      }),
    );
    const { id, end } = await tree.run({ tools: ["write", "subagent"] });
    assert.equal(end.ending, "completed");
    const [decision] = eventsOfType(await tree.eventsOf(`${id}/a-1.0`), "tool_decision");
    assert.deepEqual([decision?.verdict, decision?.by], ["deny", "nobody"]);
  });

  it("22: two children that ask at once each get their own answer", async (t) => {
    const writing = (path: string) => calling(["write", { path, content: "x" }]);
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a"), spawning("b")),
        a: writing("yes.txt"),
        b: writing("no.txt"),
      }),
      { ask: async (question) => (question.arguments.includes("yes.txt") ? "yes" : "no") },
    );
    await tree.run({ tools: ["write", "subagent"] });
    const written = ["yes.txt", "no.txt"].map((path) => existsSync(join(tree.root, path)));
    assert.deepEqual(written, [true, false]);
  });

  it("23: a child's change of folder is its own command's alone", async (t) => {
    const before = process.cwd();
    const tree = await startTree(
      t,
      playing({
        go: ({ outputs }) => {
          if (outputs.length === 0) return toCalls(spawning("a"));
          if (outputs.length > 1) return reply.text("done");
          return reply.calls([{ name: "shell", arguments: '{"argv":["pwd"]}' }]);
        },
        a: calling(["shell", { command: "cd sub && pwd" }]),
      }),
      { files: { "sub/a.txt": "" } },
    );
    const { events, id } = await tree.run({ tools: ["shell", "subagent"], approve: "auto" });
    const text = JSON.stringify(eventsOfType(events, "tool_end").at(-1));
    assert.ok(text.includes(tree.root) && !text.includes(`${tree.root}/sub`), text);
    const child = JSON.stringify(eventsOfType(await tree.eventsOf(`${id}/a-1.0`), "tool_end"));
    assert.ok(child.includes("/sub"), child);
    assert.equal(process.cwd(), before);
  });

  it("24: a field that would be ignored is refused, and nothing is started", async (t) => {
    const tree = await startTree(t, playing({ go: calling(spawning("a", { model: "big" })) }));
    const { events } = await tree.run();
    const { a } = envelopesIn(events);
    assert.deepEqual([a?.success, a?.error], [false, "Invalid input: unknown field `model`"]);
    assert.equal(eventsOfType(events, "child_start").length, 0);
  });

  it("25: a child has no instructions but those of its own agent, and the record shows them", async (t) => {
    const tree = await startTree(
      t,
      playing({ go: calling(spawning("a"), spawning("b", { agent: "counter" })) }),
      { agents: [COUNTER] },
    );
    const { id } = await tree.run({ instructions: "Rules of the project." });
    const told = await Promise.all(
      ["a-1.0", "b-1.1"].map(async (key) => {
        const [start] = eventsOfType(await tree.eventsOf(`${id}/${key}`), "run_start");
        return start?.settings.instructions;
      }),
    );
    assert.deepEqual(told, [null, "Count, and nothing else."]);
    const withRules = tree.upstream.requests.filter(({ text }) => text.includes("Rules of the"));
    assert.equal(withRules.length, 2, "the parent's turns alone");
  });
});
