/** Bugs that other delegating tools have shipped; docs/complaints.md lists them all. */

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import { parseRule } from "../../src/index.ts";
import { reply } from "../../src/testing/index.ts";
import {
  asksFor,
  begin,
  COUNTER,
  calling,
  callingForEver,
  createGate,
  envelopesIn,
  eventsOfType,
  playing,
  spawning,
  toCalls,
  untilGone,
} from "../delegation/family.ts";
import { startTree } from "../delegation/tree-fixture.ts";

function createRecord(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-regressions-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "runs.db");
}

/** A tree that is interrupted when one child has ended and another waits, and then resumed. */
async function resumeTree(t: TestContext) {
  const options = {
    storePath: createRecord(t),
    agents: [COUNTER],
    delegation: { maxDepth: 1 },
    files: { "a.txt": "" },
  };
  const waiting = createGate();
  let isBack = false;
  const roles = playing({
    go: calling(spawning("quick"), spawning("slow", { agent: "counter" }), spawning("deep")),
    deep: ({ outputs }) => {
      if (outputs.length > 0) return reply.text("done");
      return isBack ? toCalls(spawning("deeper")) : reply.silence();
    },
    slow: () => {
      if (isBack) return reply.text("done");
      waiting.open();
      return reply.silence();
    },
  });
  const first = await startTree(t, roles, options);
  const run = await begin(first, ["read", "subagent"]);
  await waiting.opened;
  for await (const batch of first.runtime.engine.follow(run.id, -1)) {
    if (batch.some(({ event }) => event.type === "child_end")) break;
  }
  await first.runtime.close();
  isBack = true;
  const second = await startTree(t, roles, options);
  const resumed = await second.runtime.resume(run.id);
  const end = await resumed.result();
  const { requests } = first.upstream;
  return { id: run.id, end, second, requests, events: await second.eventsOf(run.id) };
}

describe("bugs of resuming", () => {
  it("depth not restored, model of the call dropped, finished siblings run again (28)", async (t) => {
    const { id, end, second, requests, events } = await resumeTree(t);
    assert.equal(end.ending, "completed");
    const envelopes = envelopesIn(events);
    assert.deepEqual(
      ["quick", "slow", "deep"].map((label) => envelopes[label]?.success),
      [true, true, true],
    );
    assert.equal(asksFor(requests, "quick"), 1, "its task, once");
    const deep = await second.eventsOf(`${id}/deep-1.2`);
    assert.match(envelopesIn(deep)["deeper"]?.error ?? "", /recursion depth \(1\) exceeded/);
    const models = requests
      .map(({ text }) => JSON.parse(text))
      .filter(({ messages }) => JSON.stringify(messages).includes('"slow\\n'))
      .filter(({ messages }) => !JSON.stringify(messages).includes('"go"'))
      .map(({ model }) => model);
    assert.ok(models.length >= 2 && models.every((model) => model === "small"), String(models));
    assert.equal(end.spent["children"], 3, "each counted once");
  });
});

describe("bugs of starting", () => {
  it("children of another tool not counted in the depth", async (t) => {
    const parallel = (label: string) =>
      ["parallel_subagent", { tasks: [{ label, task_prompt: label }] }] as const;
    const tree = await startTree(
      t,
      playing({
        go: calling(parallel("a")),
        a: calling(spawning("b")),
        b: calling(parallel("c")),
        c: calling(spawning("d")),
      }),
    );
    const { end } = await tree.run({ tools: ["subagent", "parallel_subagent"] });
    assert.equal(end.spent["children"], 3);
    assert.equal(asksFor(tree.upstream.requests, "d"), 0);
  });

  it("a child launched without tools because its list named none that exist", async (t) => {
    const tree = await startTree(
      t,
      playing({
        go: calling(
          spawning("a", { allowed_tools: ["grpe"] }),
          spawning("b", { agent: "counter" }),
          spawning("none", { allowed_tools: [] }),
        ),
      }),
      { agents: [{ ...COUNTER, tools: ["shell"] }] },
    );
    const { events } = await tree.run();
    const { a, b, none } = envelopesIn(events);
    assert.deepEqual([a?.success, b?.success, none?.success], [false, false, true]);
    const started = eventsOfType(events, "child_start").map(({ label }) => label);
    assert.deepEqual(started, ["none"], "the one that asked for none by name");
  });

  it("deny rules not applied to a named child", async (t) => {
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a", { agent: "counter" })),
        a: calling(["read", { path: "secret.txt" }]),
      }),
      {
        agents: [COUNTER],
        files: { "secret.txt": "TOP" },
        rules: [parseRule("deny", "path(secret.txt)", "the program")],
      },
    );
    const { id } = await tree.run();
    const [decision] = eventsOfType(await tree.eventsOf(`${id}/a-1.0`), "tool_decision");
    assert.deepEqual([decision?.verdict, decision?.by], ["deny", "rule"]);
  });

  it("a child's model chosen without the settings: an agent's model needs its own key", async (t) => {
    const tree = await startTree(t, playing({ go: calling(spawning("a", { agent: "counter" })) }), {
      agents: [{ ...COUNTER, model: "openai/gpt-5.1" }],
    });
    const { events } = await tree.run();
    assert.match(envelopesIn(events)["a"]?.error ?? "", /OPENAI_API_KEY/);
    assert.equal(asksFor(tree.upstream.requests, "a"), 0, "not at its parent's server");
  });
});

describe("bugs of counting", () => {
  it("the tree's budget not stopping parallel children", async (t) => {
    const reading = callingForEver("read", { path: "a.txt" });
    const tree = await startTree(
      t,
      playing({ go: calling(spawning("a"), spawning("b")), a: reading, b: reading }),
      { files: { "a.txt": "" } },
    );
    const { end } = await tree.run({ limits: { ...NO_LIMITS, turns: 9 } });
    assert.ok(tree.upstream.requests.length <= 9, String(tree.upstream.requests.length));
    assert.equal(end.spent["turns"], tree.upstream.requests.length);
  });

  it("usage of children missing from what the run has spent", async (t) => {
    const tree = await startTree(
      t,
      playing({ go: calling(spawning("a")), a: calling(spawning("b")) }),
    );
    const { end } = await tree.run();
    assert.equal(end.spent["turns"], tree.upstream.requests.length);
    assert.ok(Number(end.spent["tokens"]) > end.usage.total_tokens);
  });
});

describe("bugs of answering for a child", () => {
  it("an answer of `always` to a child lost", async (t) => {
    let asked = 0;
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a")),
        a: calling(
          ["write", { path: "a.txt", content: "" }],
          ["write", { path: "b.txt", content: "" }],
        ),
      }),
      {
        ask: async () => {
          asked++;
          return "always";
        },
      },
    );
    const { id } = await tree.run({ tools: ["write", "subagent"] });
    assert.equal(asked, 1);
    const decisions = eventsOfType(await tree.eventsOf(`${id}/a-1.0`), "tool_decision");
    assert.deepEqual(
      decisions.map(({ verdict }) => verdict),
      ["allow", "allow"],
    );
  });

  it("a child's commands outliving the child", async (t) => {
    const command = "echo $$ > new && mv new pid; sleep 300";
    const tree = await startTree(
      t,
      playing({ go: calling(spawning("a")), a: calling(["shell", { command }]) }),
    );
    const running = createGate();
    const watcher = watch(tree.root, (_, name) => name === "pid" && running.open());
    t.after(() => watcher.close());
    const run = await begin(tree, ["shell", "subagent"], { approve: "auto" });
    await running.opened;
    await run.cancel();
    const [end] = eventsOfType(await tree.eventsOf(`${run.id}/a-1.0`), "run_end");
    assert.equal(end?.ending, "cancelled");
    const pid = Number(readFileSync(join(tree.root, "pid"), "utf8"));
    await untilGone(pid);
  });
});
