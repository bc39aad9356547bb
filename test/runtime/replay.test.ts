import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { readCosts } from "../../src/delegation/ledger/costs.ts";
import { addUp, listNodes, readTree } from "../../src/delegation/ledger/tree.ts";
import { DELEGATION } from "../../src/delegation/settings.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import type { AgentParts } from "../../src/runtime/agent-body.ts";
import { createNetwork } from "../../src/runtime/network.ts";
import { openModel } from "../../src/runtime/open-model.ts";
import { replayTree } from "../../src/runtime/replay.ts";
import type { RunRequest, RuntimeOptions } from "../../src/runtime/runtime.ts";
import { SAFETY } from "../../src/runtime/safety-settings.ts";
import { createToolbox } from "../../src/runtime/toolbox.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { reply, respond, type Script } from "../../src/testing/index.ts";
import { startTree } from "../delegation/tree-fixture.ts";

function lastAsked({ items }: ModelRequest): string {
  const message = items.findLast((item) => item.type === "message" && item.role === "user");
  return message?.type === "message" && typeof message.content === "string" ? message.content : "";
}

const hasOutput = ({ items }: ModelRequest): boolean =>
  items.some(({ type }) => type === "function_call_output");

const subagent = (label: string, task_prompt: string) => ({
  name: "subagent",
  arguments: JSON.stringify({ label, task_prompt }),
});

/** A parent with two children, one of which reads a file. */
const MODEL = respond((request) => {
  const asked = lastAsked(request);
  if (asked === "go" && !hasOutput(request)) {
    return reply.calls([subagent("one", "Read a.txt."), subagent("two", "Say two.")]);
  }
  if (asked === "go") return reply.text(`Both: ${JSON.stringify(request.items).length}`);
  if (asked === "Read a.txt." && !hasOutput(request)) {
    return reply.calls([{ name: "read", arguments: '{"path":"a.txt"}' }]);
  }
  return reply.text(`About ${asked}`);
});

/** A recorded tree, and a function that replays it. */
async function record(
  t: TestContext,
  engine: Script = MODEL,
  asked: Partial<RunRequest> = {},
  settings: RuntimeOptions = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-replay-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const storePath = join(folder, "runs.db");
  const tree = await startTree(t, engine, { storePath, files: { "a.txt": "hello" }, ...settings });
  const { id, end } = await tree.run(asked);
  const store = await openSqliteStore(storePath);
  const env = {};
  const network = createNetwork(env);
  t.after(async () => {
    await store.close();
    await network.close();
  });
  const clock = systemClock;
  const parts: AgentParts = {
    clock,
    toolbox: await createToolbox({ tools: [], env, clock, log: silentLog, version: "0" }),
    openModel: (task) => openModel(task, { env, transport: network.open }),
    safety: { ...SAFETY, env },
    delegation: DELEGATION,
    observe() {},
  };
  return { tree, id, end, store, parts, requests: tree.upstream.requests };
}

interface Troubled {
  readonly model: Script;
  readonly ending: string;
  readonly tools?: readonly string[];
  readonly asked?: Partial<RunRequest>;
}

const LAST_TURN = {
  name: "subagent",
  arguments: JSON.stringify({ label: "one", task_prompt: "Read.", max_turns: 2 }),
};

/** Trees that did not simply complete: what the model does, and how the root ends. */
const TROUBLED: Readonly<Record<string, Troubled>> = {
  "with a child that its vendor refuses": {
    model: respond((request) => {
      if (lastAsked(request) === "go") return hasOutput(request) ? reply.text("Done.") : CHILDREN;
      return reply.status(400, { error: { message: "No." } });
    }),
    ending: "completed",
  },
  "with a child that fails after it has worked": {
    model: respond((request) => {
      if (lastAsked(request) === "go") return hasOutput(request) ? reply.text("Done.") : CHILDREN;
      if (!hasOutput(request))
        return reply.calls([{ name: "read", arguments: '{"path":"a.txt"}' }]);
      return reply.status(400, { error: { message: "No." } });
    }),
    ending: "completed",
  },
  "with a child that has no turns left": {
    model: respond((request) => {
      if (lastAsked(request) === "go") {
        return hasOutput(request) ? reply.text("Done.") : reply.calls([LAST_TURN]);
      }
      return reply.calls([{ name: "read", arguments: '{"path":"a.txt"}' }], { text: "Half." });
    }),
    ending: "completed",
  },
  "with children of which one fails, side by side": {
    model: respond((request) => {
      const asked = lastAsked(request);
      if (asked === "go") return hasOutput(request) ? reply.text("Done.") : PARALLEL;
      return asked.startsWith("Say b.")
        ? reply.status(400, { error: { message: "No." } })
        : reply.text("Mine.");
    }),
    ending: "completed",
    tools: ["read", "subagent", "parallel_subagent"],
  },
  "with children that the failure of one has stopped": {
    model: respond((request) => {
      const asked = lastAsked(request);
      if (asked === "go") return hasOutput(request) ? reply.text("Done.") : FAIL_FAST;
      return asked.startsWith("Say b.")
        ? reply.status(400, { error: { message: "No." } })
        : reply.silence("I ");
    }),
    ending: "completed",
    tools: ["read", "subagent", "parallel_subagent"],
  },
  "with children that its budget is too small for": {
    model: respond((request) => {
      const how = { usage: { input: 1000, output: 200 } };
      if (lastAsked(request) !== "go") return reply.text("Mine.", how);
      return hasOutput(request) ? reply.text("Done.", how) : { ...MANY, ...how };
    }),
    ending: "completed",
    tools: ["read", "subagent", "parallel_subagent"],
    asked: { limits: { ...NO_LIMITS, tokens: 9000 } },
  },
  "with a report that is cut": {
    model: respond((request) => {
      if (lastAsked(request) !== "go") return reply.text("x".repeat(200_000));
      return hasOutput(request) ? reply.text("Done.") : CHILDREN;
    }),
    ending: "completed",
  },
  "with calls that cannot be made": {
    model: respond((request) =>
      hasOutput(request)
        ? reply.text("Done.")
        : reply.calls([
            { name: "nobody", arguments: "{}" },
            { name: "read", arguments: "{" },
            { name: "read", arguments: '{"path":"missing.txt"}' },
            { name: "subagent", arguments: '{"label":"x"}' },
          ]),
    ),
    ending: "completed",
  },
  "that ends at its last turn": {
    model: respond(() => reply.calls([{ name: "read", arguments: '{"path":"a.txt"}' }])),
    ending: "max_turns",
    asked: { max_turns: 2 },
  },
  "that ends by its budget": {
    model: respond(() => reply.calls([{ name: "read", arguments: '{"path":"a.txt"}' }])),
    ending: "budget",
    asked: { limits: { ...NO_LIMITS, turns: 2 } },
  },
  "that never fits its schema": {
    model: respond(() => reply.text("no JSON")),
    ending: "failed",
    asked: {
      format: { type: "json_schema", name: "x", schema: { type: "object" }, strict: true },
    },
  },
  "that its vendor refuses": {
    model: respond(() => reply.status(400, { error: { message: "No." } })),
    ending: "failed",
  },
  "whose answer breaks off": {
    model: respond(() => reply.failure("Broken.", { text: "Half of" })),
    ending: "failed",
  },
  "with children side by side": {
    model: respond((request) => {
      if (lastAsked(request) !== "go") return reply.text("Mine.");
      return hasOutput(request) ? reply.text("Done.") : PARALLEL;
    }),
    ending: "completed",
    tools: ["read", "subagent", "parallel_subagent"],
  },
};

const CHILDREN = reply.calls([subagent("one", "Fail."), subagent("two", "Fail too.")]);
const parallel = (labels: readonly string[], more: object = {}) => {
  const tasks = labels.map((label) => ({ label, task_prompt: `Say ${label}.` }));
  return reply.calls([
    { name: "parallel_subagent", arguments: JSON.stringify({ tasks, ...more }) },
  ]);
};
const PARALLEL = parallel(["a", "b", "c"]);
const FAIL_FAST = parallel(["a", "b", "c"], { fail_fast: true, max_concurrent: 2 });
const MANY = parallel(["a", "b", "c", "d", "e", "f"]);

describe("a replay of a tree", () => {
  for (const [name, { model, ending, tools, asked }] of Object.entries(TROUBLED)) {
    it(`has the same result: ${name}`, async (t) => {
      const { id, end, store, parts, requests } = await record(t, model, {
        ...(tools ? { tools } : {}),
        ...asked,
      });
      assert.equal(end.ending, ending);
      const before = requests.length;
      const replayed = await replayTree({ record: store, id }, parts);
      assert.deepEqual([replayed.divergence, replayed.left], [undefined, []]);
      assert.deepEqual([replayed.end.ending, replayed.end.message], [end.ending, end.message]);
      assert.equal(requests.length, before, "nothing is sent");
    });
  }

  it("sends nothing and has the same result", async (t) => {
    const { id, end, store, parts, requests } = await record(t);
    const before = requests.length;
    const replayed = await replayTree({ record: store, id }, parts);
    assert.equal(replayed.divergence, undefined);
    assert.deepEqual([replayed.runs, replayed.left], [3, []]);
    assert.equal(replayed.end.output_text, end.output_text);
    assert.equal(requests.length, before);
  });

  it("has the options that were recorded, whatever the settings say by then", async (t) => {
    const settings = { options: { seed: 7 } };
    const asked = { options: { user: "me" } };
    const { id, tree, store, parts } = await record(t, MODEL, asked, settings);
    const options = { seed: 7, user: "me" };
    const children = await store.listRuns({ limit: 10, parent_id: id });
    for (const run of [id, ...children.map((child) => child.id)]) {
      const [start] = await tree.eventsOf(run);
      assert.ok(start?.type === "run_start");
      assert.deepEqual(start.settings.options, options, "a child with its parent's model has them");
    }
    const replayed = await replayTree({ record: store, id }, parts);
    assert.deepEqual([replayed.divergence, replayed.left], [undefined, []]);
  });

  it("has the same result if its processes were killed in every turn and every call", async (t) => {
    const { id, store, parts, requests } = await record(t);
    const before = requests.length;
    const interrupted = await copyTree(store, id, interrupt);
    const replayed = await replayTree({ record: interrupted, id }, parts);
    assert.deepEqual([replayed.divergence, replayed.left], [undefined, []]);
    assert.equal(requests.length, before, "nothing is sent");
  });

  it("counts what was interrupted once", async (t) => {
    const { id, store } = await record(t);
    const tree = addUp(listNodes(await readTree(store, id)));
    const interrupted = await copyTree(store, id, interrupt);
    const again = addUp(listNodes(await readTree(interrupted, id)));
    assert.deepEqual([again.turns, again.tool_calls], [tree.turns, tree.tool_calls]);
    assert.ok(tree.tool_calls > 0 && again.calls === 2 * tree.calls, "each answer was asked twice");
    const toolsOf = async (from: Store) => {
      const rows = await readCosts(from, [id], "tool");
      return rows.map(({ key, calls }) => [key, calls]).sort();
    };
    assert.deepEqual(await toolsOf(interrupted), await toolsOf(store));
  });

  it("names the first difference", async (t) => {
    const { id, store, parts } = await record(t);
    const delegation = { ...parts.delegation, defaultMaxTurns: 1 };
    const { divergence } = await replayTree({ record: store, id }, { ...parts, delegation });
    assert.match(divergence?.path ?? "", /^\/root\/(one|two)-1\.[01]$/);
    assert.match(divergence?.recorded ?? "", /"max_turns":10/);
    assert.match(divergence?.replayed ?? "", /"max_turns":1\b/);
  });

  it("runs only what depends on a change; the changed run is named by its path or its place", async (t) => {
    const { id, store, parts, requests } = await record(t);
    for (const node of ["/root/two-1.1", "two-1.1"]) {
      const before = requests.length;
      const change = { node, prompt: "Say three." };
      const { left, end } = await replayTree({ record: store, id, change }, parts);
      const asked = requests.slice(before).map(({ body }) => JSON.stringify(body));
      assert.equal(asked.length, 2, "the child's turn, and its parent's next");
      assert.ok(asked.some((body) => body.includes("Say three.")));
      assert.ok(
        !asked.some((body) => body.includes('"Read a.txt."') && !body.includes("subagent")),
      );
      assert.deepEqual(
        left.map(({ path }) => path),
        ["/root"],
      );
      assert.match(end.output_text, /^Both: /);
    }
  });

  it("refuses a run that is not in the tree", async (t) => {
    const { id, store, parts } = await record(t);
    const change = { node: "/root/nobody", prompt: "x" };
    const message = /`\/root\/nobody`\. It has: run_\w+, (one|two)-1\.\d, (one|two)-1\.\d\.$/;
    await assert.rejects(replayTree({ record: store, id, change }, parts), {
      code: "not_found",
      message,
    });
    await assert.rejects(replayTree({ record: store, id: "run_none" }, parts), {
      code: "not_found",
    });
  });
});

/** The same log as if a process had died before each answer, and before the first result of each turn. */
function interrupt(log: readonly RunEvent[]): RunEvent[] {
  const resume: RunEvent = { type: "run_resume", epoch: 2, at_ms: 1 };
  return log.flatMap((event, at) => {
    const isAnswer = event.type === "turn_start";
    if (!isAnswer && log[at - 1]?.type !== "turn_end") return [event];
    const end = isAnswer ? "turn_end" : "tool_end";
    const length = log.slice(at).findIndex(({ type }) => type === end);
    return length < 0 ? [event] : [...log.slice(at, at + length), resume, event];
  });
}

async function copyTree(
  from: Store,
  id: string,
  change: (log: readonly RunEvent[]) => RunEvent[],
): Promise<Store> {
  const store = createMemoryStore();
  const runs = (await from.listRuns({ limit: 100 })).reverse();
  for (const run of runs.filter((one) => one.id === id || one.id.startsWith(`${id}/`))) {
    const { ending, ended_at_ms: at_ms } = run;
    assert.ok(ending && at_ms !== null);
    const log = await from.readEvents(run.id, -1, 10_000);
    const events = change(log.map(({ event }) => event));
    await store.createRun(run);
    const epoch = (await store.claim(run.id, "worker")) ?? 0;
    await store.finish(run.id, epoch, { ending, result: null, firstSeq: 0, events, at_ms });
  }
  return store;
}
