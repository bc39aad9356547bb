import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { DELEGATION } from "../../src/delegation/settings.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import type { AgentParts } from "../../src/runtime/agent-body.ts";
import { createNetwork } from "../../src/runtime/network.ts";
import { SAFETY } from "../../src/runtime/open-gate.ts";
import { openModel } from "../../src/runtime/open-model.ts";
import { replayTree } from "../../src/runtime/replay.ts";
import { createToolbox } from "../../src/runtime/toolbox.ts";
import { openSqliteStore } from "../../src/store/sqlite-store.ts";
import { reply, respond } from "../../src/testing/index.ts";
import { startTree } from "../delegation/tree-bench.ts";

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

/** A recorded tree, and what replays it. */
async function record(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-replay-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const storePath = join(folder, "runs.db");
  const tree = await startTree(t, MODEL, { storePath, files: { "a.txt": "hello" } });
  const { id, end } = await tree.run();
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

describe("a replay of a tree", () => {
  it("sends nothing and comes to the same", async (t) => {
    const { id, end, store, parts, requests } = await record(t);
    const before = requests.length;
    const replayed = await replayTree({ store, id }, parts);
    assert.equal(replayed.divergence, undefined);
    assert.deepEqual([replayed.runs, replayed.left], [3, []]);
    assert.equal(replayed.end.output_text, end.output_text);
    assert.equal(requests.length, before);
  });

  it("names the first thing that is different", async (t) => {
    const { id, store, parts } = await record(t);
    const delegation = { ...parts.delegation, defaultMaxTurns: 1 };
    const { divergence } = await replayTree({ store, id }, { ...parts, delegation });
    assert.match(divergence?.path ?? "", /^\/root\/(one|two)-1\.[01]$/);
    assert.match(divergence?.recorded ?? "", /"max_turns":10/);
    assert.match(divergence?.replayed ?? "", /"max_turns":1\b/);
  });

  it("runs only what depends on a change", async (t) => {
    const { id, store, parts, requests } = await record(t);
    const before = requests.length;
    const change = { node: "/root/two-1.1", prompt: "Say three." };
    const { left, end } = await replayTree({ store, id, change }, parts);
    const asked = requests.slice(before).map(({ body }) => JSON.stringify(body));
    assert.equal(asked.length, 3, "the child's two turns, and its parent's next");
    assert.ok(asked.some((body) => body.includes("Say three.")));
    assert.ok(!asked.some((body) => body.includes('"Read a.txt."') && !body.includes("subagent")));
    assert.deepEqual(
      left.map(({ path }) => path),
      ["/root"],
    );
    assert.match(end.output_text, /^Both: /);
  });

  it("knows no run that the tree has not", async (t) => {
    const { id, store, parts } = await record(t);
    const change = { node: "/root/nobody", prompt: "x" };
    await assert.rejects(replayTree({ store, id, change }, parts), { code: "not_found" });
    await assert.rejects(replayTree({ store, id: "run_none" }, parts), { code: "not_found" });
  });
});
