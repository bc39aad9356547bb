import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { AgentTask } from "../../src/agent/task.ts";
import { Failure } from "../../src/base/failure.ts";
import { silentLog } from "../../src/base/log.ts";
import { createConversations, toConversationPath } from "../../src/delegation/conversations.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import type { RuntimeOptions } from "../../src/runtime/runtime.ts";
import { createManualClock, type Reply, reply, respond } from "../../src/testing/index.ts";
import { patientClock } from "../patience.ts";
import { createWorkspaceFolder } from "../tools/workspace-folder.ts";
import { call, record, start } from "./ledger-record.ts";
import { startTree } from "./tree-fixture.ts";

const KEPT = { persistenceEnabled: true };

/** A root that gives the task `child` to one child and ends; `child` answers for that one. */
async function startOne(
  t: TestContext,
  child: (request: ModelRequest) => Reply,
  options: RuntimeOptions = {},
) {
  const folder = createWorkspaceFolder({});
  t.after(() => folder[Symbol.dispose]());
  const dir = join(folder.root, "conversations");
  const engine = respond((request) => {
    const [first] = request.items;
    const isRoot = first?.type === "message" && first.content === "go";
    if (!isRoot) return child(request);
    if (request.items.length > 1) return reply.text("The root is done.");
    const input = { label: "count", task_prompt: "Count the files." };
    return reply.calls([{ name: "subagent", arguments: JSON.stringify(input) }]);
  });
  const files = { "a.txt": "one" };
  const given = { files, conversationsDir: dir, delegation: KEPT, ...options };
  const tree = await startTree(t, engine, given);
  const read = (id: string) => JSON.parse(readFileSync(toConversationPath(dir, id), "utf8"));
  return { tree, dir, read };
}

const wordsOf = (messages: readonly { type: string; role?: string; content?: unknown }[]) =>
  messages.map(({ type, role, content }) => {
    const text = Array.isArray(content) ? content.map((part) => part.text).join("") : content;
    return type === "message" ? `${role}: ${text}` : type;
  });

describe("the conversations of children", () => {
  it("are written for one that failed, with what it had done and said", async (t) => {
    const { tree, dir, read } = await startOne(t, ({ items }) =>
      items.length === 1
        ? reply.calls([{ name: "read", arguments: '{"path":"a.txt"}' }])
        : reply.failure("The server broke.", { text: "I see " }),
    );
    const { id, end } = await tree.run();
    assert.equal(end.ending, "completed");
    const kept = read(`${id}/count-1.0`);
    assert.deepEqual(wordsOf(kept.messages), [
      "user: Count the files.",
      ...["function_call", "function_call_output"],
      "assistant: I see ",
    ]);
    assert.equal(kept.messages.at(-1).status, "incomplete");
    const { completion_status, error, turns_used } = kept.metadata;
    assert.deepEqual([completion_status, turns_used], ["failed", 2]);
    assert.match(error, /broke/);
    assert.equal(statSync(join(dir, id, "count-1.0.json")).mode & 0o777, 0o600);
    assert.equal(statSync(join(dir, id)).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(join(dir, id)), ["count-1.0.json"]);
  });

  it("contain what the loop asked, too, and the figures", async (t) => {
    const delegation = { ...KEPT, summary: "always" } as const;
    const { tree, read } = await startOne(
      t,
      ({ items }) => {
        if (items.length === 1)
          return reply.calls([{ name: "read", arguments: '{"path":"a.txt"}' }]);
        return reply.text(items.length === 3 ? "There is 1." : "Summary: 1 file.");
      },
      { delegation },
    );
    const { id, events } = await tree.run();
    const { messages, metadata, started_at, completed_at, ...rest } = read(`${id}/count-1.0`);
    assert.deepEqual(rest, { id: `${id}/count-1.0`, parent_id: id, label: "count", depth: 1 });
    assert.deepEqual(wordsOf(messages), [
      "user: Count the files.",
      ...["function_call", "function_call_output"],
      "assistant: There is 1.",
      "user: Summarize your findings concisely",
      "assistant: Summary: 1 file.",
    ]);
    assert.deepEqual(metadata, {
      turns_used: 3,
      tokens_consumed: events.find((event) => event.type === "child_end")?.usage.total_tokens,
      completion_status: "complete",
      max_turns_reached: false,
      task_prompt: "Count the files.",
      summary_prompt: "Summarize your findings concisely",
      allowed_tools: ["read", "subagent"],
      error: null,
    });
    for (const time of [started_at, completed_at]) {
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    assert.ok(started_at <= completed_at);
  });

  it("are written for one whose time is up", async (t) => {
    const delegation = { ...KEPT, childTimeoutMs: 50 };
    const { tree, read } = await startOne(t, () => reply.silence("I begin."), { delegation });
    const { id } = await tree.run();
    const { messages, metadata } = read(`${id}/count-1.0`);
    assert.equal(wordsOf(messages)[0], "user: Count the files.");
    assert.equal(metadata.completion_status, "timeout");
    assert.match(metadata.error, /time limit/);
  });

  it("are written for one that is cancelled with its parent", async (t) => {
    const clock = patientClock;
    const { tree, read } = await startOne(t, () => reply.silence("I begin."), { clock });
    const { url } = tree.upstream;
    const where = { model: "custom/test", provider: "openai-chat", url, root: tree.root } as const;
    const run = await tree.runtime.run({ ...where, input: "go", tools: ["read", "subagent"] });
    const child = `${run.id}/count-1.0`;
    await untilSaid(tree.runtime.engine.follow(run.id, -1), "child_start");
    await untilSaid(tree.runtime.engine.follow(child, -1), "text_delta");
    await run.cancel();
    assert.equal((await run.result()).ending, "cancelled");
    await tree.runtime.close();
    const { messages, metadata } = read(child);
    assert.deepEqual([messages.length, metadata.completion_status], [2, "cancelled"]);
  });

  it("are not written for one whose process stops: it can be resumed", async (t) => {
    const { tree, dir } = await startOne(t, () => reply.silence("I begin."));
    const { url } = tree.upstream;
    const where = { model: "custom/test", provider: "openai-chat", url, root: tree.root } as const;
    const run = await tree.runtime.run({ ...where, input: "go", tools: ["read", "subagent"] });
    await untilSaid(tree.runtime.engine.follow(run.id, -1), "child_start");
    await untilSaid(tree.runtime.engine.follow(`${run.id}/count-1.0`, -1), "text_delta");
    await tree.runtime.close();
    assert.equal(existsSync(dir), false);
  });

  it("contain no secret of the environment, however it is spelled", async (t) => {
    const secret = 'hunter2"hunter2';
    const env = { PATH: process.env["PATH"], ACME_TOKEN: secret };
    const { tree, read } = await startOne(
      t,
      ({ items }) =>
        items.length === 1
          ? reply.calls([{ name: "read", arguments: JSON.stringify({ path: secret }) }])
          : reply.text(`It is ${secret}, and password="another-one".`),
      { env },
    );
    const { id } = await tree.run();
    const text = JSON.stringify(read(`${id}/count-1.0`));
    for (const part of ["hunter2", "another-one"]) assert.ok(!text.includes(part), part);
    assert.ok(text.includes("[redacted]"));
  });

  it("that cannot be written fail nothing, and are logged", async (t) => {
    const warnings: unknown[] = [];
    const warn = (...said: unknown[]) => void warnings.push(said);
    const { tree, dir } = await startOne(t, () => reply.text("There is 1."), {
      subagentLog: { ...silentLog, warn },
    });
    writeFileSync(dir, "a file where the folder would be");
    const { id, end } = await tree.run();
    assert.deepEqual([end.ending, warnings.length], ["completed", 1]);
    assert.match(JSON.stringify(warnings), new RegExp(`not written.*${id}/count-1\\.0`));
  });

  it("are written only if the settings say so", async (t) => {
    const { tree, dir } = await startOne(t, () => reply.text("There is 1."), { delegation: {} });
    await tree.run();
    assert.equal(existsSync(dir), false);
  });
});

const TASK = {
  items: [{ type: "message", role: "user", content: "Count." }],
  label: "a",
  depth: 1,
  tools: ["read"],
  max_turns: 5,
  summary_prompt: null,
  format: { type: "text" },
} as unknown as AgentTask;

describe("createConversations", () => {
  const ended = {
    id: "run_1/a",
    parentId: "run_1",
    task: TASK,
    startedAtMs: 1000,
    endedAtMs: 5000,
    failure: undefined,
  };
  const keepWith = async (logs: Parameters<typeof record>[0], child: object) => {
    const written: string[] = [];
    const conversations = createConversations({
      dir: "kept",
      log: silentLog,
      clock: createManualClock(0),
      record: await record(logs),
      redact: (text) => text,
      whenEnded: () => Promise.reject(new Failure("not_found", "There is no such run.")),
      write: async (_, text) => void written.push(text),
    });
    await conversations.open(new AbortController().signal)({
      ...ended,
      report: undefined,
      ...child,
    });
    return written.map((text) => JSON.parse(text))[0];
  };

  it("uses the parent's report of a process that was killed, and its log for what it did", async () => {
    const log = [start("run_1/a", 1100, "a"), ...call(1, 1200, 1300, 0)];
    const usage = { total_tokens: 0 };
    const report = { ending: "timeout", message: "Too late.", text: "", turns: 0, usage };
    const { metadata, started_at, completed_at } = await keepWith({ "run_1/a": log }, { report });
    assert.deepEqual(
      [metadata.completion_status, metadata.error, metadata.turns_used, metadata.tokens_consumed],
      ["timeout", "Too late.", 1, 1234],
    );
    const times = [started_at, completed_at];
    assert.deepEqual(times, ["1970-01-01T00:00:01.100Z", "1970-01-01T00:00:05.000Z"]);
  });

  it("says why a child could not be started", async () => {
    const failure = new Failure("forbidden", "There are no processes here.");
    const { messages, metadata } = await keepWith({}, { failure });
    assert.deepEqual(messages, TASK.items);
    const { completion_status, error } = metadata;
    assert.deepEqual([completion_status, error], ["failed", "There are no processes here."]);
  });

  it("writes nothing of a child that has not ended", async () => {
    const failure = new Failure("cancelled", "This process stops.");
    const log = [start("run_1/a", 1100, "a"), ...call(1, 1200, 1300, 0)];
    assert.equal(await keepWith({ "run_1/a": log }, { failure }), undefined);
  });

  it("keeps the answer of a child that has left no log here", async () => {
    const usage = { total_tokens: 7 };
    const report = { ending: "completed", message: "", text: "There are 3.", turns: 1, usage };
    const { messages } = await keepWith({}, { report });
    assert.deepEqual(wordsOf(messages), ["user: Count.", "assistant: There are 3."]);
  });

  it("writes no id outside its folder", () => {
    for (const id of ["../../x", "run/../../../x", "run/a\\..\\b", "run//x\0"]) {
      const path = toConversationPath("kept", id);
      assert.ok(path.startsWith(join("kept", "")), path);
      assert.ok(!path.split(/[\\/]/).includes(".."), path);
    }
  });
});

async function untilSaid(
  log: AsyncGenerator<readonly { readonly event: { readonly type: string } }[]>,
  type: string,
): Promise<void> {
  for await (const batch of log) if (batch.some(({ event }) => event.type === type)) return;
}
