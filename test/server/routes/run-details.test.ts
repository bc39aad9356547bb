/** One run step by step over HTTP: exact requests, who decided, diffs, costs, exports, and news of all runs. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { z } from "zod";
import type { ModelRequest, Provider } from "../../../src/providers/provider.ts";
import { RUN_ANSWERS } from "../../../src/server/openapi/run-answers.ts";
import { createScriptedProvider, type Reply, reply } from "../../../src/testing/index.ts";
import { parseRule } from "../../../src/tools/gate/rules.ts";
import { until } from "../../patience.ts";
import { createWorkspaceFolder } from "../../tools/workspace-folder.ts";
import { framesOf, type RunsBench, startRuns } from "./runs-fixture.ts";

const fits = (name: keyof typeof RUN_ANSWERS, body: unknown): void =>
  void (RUN_ANSWERS[name] as z.ZodType).parse(body);

/** Answers by a function, and keeps what it was asked. */
function listening(answer: (request: ModelRequest, turn: number) => Reply): {
  readonly provider: Provider;
  readonly asked: ModelRequest[];
} {
  const asked: ModelRequest[] = [];
  const provider: Provider = {
    name: "listening",
    async *stream(request, call) {
      asked.push(structuredClone({ ...request, tools: [...request.tools] }));
      yield* createScriptedProvider(answer(request, asked.length)).stream(request, call);
    },
  };
  return { provider, asked };
}

const call = (name: string, given: object) => ({ name, arguments: JSON.stringify(given) });

interface Node {
  readonly seq: number;
  readonly kind: string;
  readonly name: string;
}

async function nodesOf(bench: RunsBench, id: string, token: string): Promise<Node[]> {
  const { body } = await bench.ask(`/v1/runs/${id}/tree`, { token });
  return body.rows.flatMap(([node, , , kind, name]: string[]) => {
    const [, run, seq] = /^(.*):(\d+)$/.exec(node ?? "") ?? [];
    return run === id ? [{ seq: Number(seq), kind, name }] : [];
  });
}

async function writing(t: TestContext, more: object = {}) {
  const folder = createWorkspaceFolder();
  t.after(() => folder[Symbol.dispose]());
  writeFileSync(join(folder.root, "notes.md"), "one\ntwo\nthree\n");
  const { provider, asked } = listening((_, turn) =>
    turn === 1
      ? reply.calls([
          call("write", { path: "new.md", content: "fresh\n" }),
          call("edit", { path: "notes.md", old_string: "two", new_string: "2" }),
        ])
      : reply.text("Both are written."),
  );
  const bench = await startRuns(t, { provider, ...more });
  const run = await bench.runtime.run({
    model: "test/model",
    input: "Write them",
    tools: ["write", "edit"],
    root: folder.root,
    instructions: "Be brief.",
    approve: "auto",
    temperature: 0.5,
  });
  await run.result();
  return { bench, id: run.id, asked, token: await bench.key() };
}

describe("a step of a run", () => {
  it("is a model call with what the model was asked, word for word, and what it answered", async (t) => {
    const { bench, id, asked, token } = await writing(t);
    const turns = (await nodesOf(bench, id, token)).filter(({ kind }) => kind === "turn");
    assert.equal(turns.length, 2);
    for (const [at, { seq }] of turns.entries()) {
      const { body, status, text, headers } = await bench.ask(`/v1/runs/${id}/steps/${seq}`, {
        token,
      });
      assert.equal(status, 200, text);
      assert.equal(headers["cache-control"], "no-store");
      fits("RunStep", body);
      const sent = asked[at] ?? assert.fail();
      assert.deepEqual(body.request.input, JSON.parse(JSON.stringify(sent.items)));
      assert.equal(body.request.instructions, sent.instructions);
      assert.equal(body.request.temperature, 0.5);
      assert.deepEqual(
        body.request.tools.map(({ name, parameters }: { name: string; parameters: unknown }) => [
          name,
          parameters,
        ]),
        sent.tools.map((tool) => [
          "name" in tool ? tool.name : "",
          "parameters" in tool ? tool.parameters : undefined,
        ]),
      );
      assert.deepEqual([body.kind, body.turn, body.before], ["turn", at + 1, "none"]);
    }
    const last = await bench.ask(`/v1/runs/${id}/steps/${turns[1]?.seq}`, { token });
    assert.equal(last.body.output[0].content[0].text, "Both are written.");
    assert.ok(last.body.usage.output_tokens > 0);
    assert.equal(last.body.reason, "stop");
  });

  it("continues from what its session held before the run", async (t) => {
    const { provider, asked } = listening((_, turn) => reply.text(`Answer ${turn}.`));
    const bench = await startRuns(t, { provider });
    const token = await bench.key();
    const start = { model: "test/model", tools: [] };
    const first = await bench.runtime.run({ ...start, input: "First", session: "new" });
    await first.result();
    const second = await bench.runtime.run({ ...start, input: "Second", session: first.id });
    await second.result();
    const [turn] = await nodesOf(bench, second.id, token);
    const { body } = await bench.ask(`/v1/runs/${second.id}/steps/${turn?.seq}`, { token });
    const wordsOf = (items: unknown): string[] =>
      [...JSON.stringify(items).matchAll(/"(First|Second|Answer \d\.)"/g)].map(
        ([, word]) => word ?? "",
      );
    assert.equal(body.before, "included");
    assert.deepEqual(wordsOf(body.request.input), ["First", "Answer 1.", "Second"]);
    assert.deepEqual(wordsOf(body.request.input), wordsOf(asked[1]?.items));
  });

  it("is a tool call with who decided, its files as diffs, and its result", async (t) => {
    const { bench, id, token } = await writing(t);
    const calls = (await nodesOf(bench, id, token)).filter(({ kind }) => kind === "call");
    const [write, edit] = await Promise.all(
      calls.map(
        async ({ seq }) => (await bench.ask(`/v1/runs/${id}/steps/${seq}`, { token })).body,
      ),
    );
    fits("RunStep", write);
    assert.deepEqual([write.kind, write.name, write.failed], ["call", "write", false]);
    const [decision] = write.decisions;
    assert.deepEqual([decision.verdict, decision.by], ["allow", "mode"]);
    assert.match(decision.about, /--approve auto/);
    assert.deepEqual(
      write.changes.map(({ what, path }: { what: string; path: string }) => [what, path]),
      [["created", "new.md"]],
    );
    assert.match(write.changes[0].diff, /\+fresh/);
    assert.match(
      edit.changes[0].diff,
      /^--- a\/notes.md\n\+\+\+ b\/notes.md\n@@.*@@\n one\n-two\n\+2\n three$/,
    );
    assert.equal(edit.output.type, "function_call_output");
  });

  it("says what was asked of a person, and by which rule a call was denied", async (t) => {
    const { provider } = listening((request) =>
      request.items.some(({ type }) => type === "function_call_output")
        ? reply.text("Denied, then.")
        : reply.calls([call("shell", { command: "rm -rf /tmp/x" })]),
    );
    const rules = [parseRule("deny", "shell(rm *)", "the test")];
    const bench = await startRuns(t, { provider, rules });
    const token = await bench.key();
    const run = await bench.runtime.run({
      model: "test/model",
      input: "Remove it",
      tools: ["shell"],
    });
    await run.result();
    const failures = await bench.ask("/v1/usage/failures?status=denied", { token });
    fits("FailedCallList", failures.body);
    const [denied] = failures.body.data;
    assert.deepEqual([denied.tool, denied.status, denied.run_id], ["shell", "denied", run.id]);
    assert.deepEqual([denied.decided_by, denied.rule], ["rule", "deny shell(rm *)"]);
    const { body } = await bench.ask(`/v1/runs/${run.id}/steps/${denied.seq}`, { token });
    assert.equal(body.decisions[0].verdict, "deny");
    const none = await bench.ask("/v1/usage/failures?tool=read", { token });
    assert.deepEqual(none.body.data, []);
    assert.equal((await bench.ask("/v1/usage/failures?status=x", { token })).status, 400);
  });

  it("names what the model was told about a call that failed", async (t) => {
    const { provider } = listening(({ items }) =>
      items.some(({ type }) => type === "function_call_output")
        ? reply.text("It is missing.")
        : reply.calls([call("read", { path: "gone.txt" }), call("subagent", { label: "" })]),
    );
    const bench = await startRuns(t, { provider });
    const token = await bench.key();
    const tools = ["read", "subagent"];
    const run = await bench.runtime.run({ model: "test/model", input: "Read it", tools });
    await run.result();
    const { body } = await bench.ask("/v1/usage/failures?status=failed", { token });
    fits("FailedCallList", body);
    const reasons = new Map<string, string>(
      body.data.map(({ tool, reason }: { tool: string; reason: string }) => [tool, reason]),
    );
    assert.match(reasons.get("read") ?? "", /gone\.txt/);
    // Its error, and not the document around it.
    assert.match(reasons.get("subagent") ?? "", /^[^{]*`?label/);
  });

  it("is shortened if it is long, and sent in pieces; anything else is not found", async (t) => {
    const long = "字".repeat(700_000);
    const { provider } = listening(() => reply.text(long, { pieceLength: 50_000 }));
    const bench = await startRuns(t, { provider });
    const token = await bench.key();
    const run = await bench.runtime.run({ model: "test/model", input: "Begin", tools: [] });
    await run.result();
    const [turn] = await nodesOf(bench, run.id, token);
    const at = `/v1/runs/${run.id}/steps/${turn?.seq}`;
    const { body, text } = await bench.ask(at, { token });
    assert.ok(Buffer.byteLength(text) < 2_000_000, `${Buffer.byteLength(text)} bytes`);
    const [cut] = body.clipped;
    assert.equal(cut.length, long.length);
    const path = encodeURIComponent(cut.path);
    const pieces = [0, 512 * 1024].map((from) =>
      bench.ask(`${at}?path=${path}&from=${from}`, { token }),
    );
    const read = (await Promise.all(pieces)).map(({ body: piece }) => piece.text);
    assert.equal(read.join(""), long);
    for (const wrong of ["0", "999999"]) {
      assert.equal(
        (await bench.ask(`/v1/runs/${run.id}/steps/${wrong}`, { token })).status,
        404,
        wrong,
      );
    }
    assert.equal((await bench.ask(`/v1/runs/${run.id}/steps/x`, { token })).status, 400);
    for (const page of ["events", "tree", "follow"]) {
      const told = await bench.ask(`/v1/runs/${run.id}/${page}`, { token });
      const largest =
        page === "follow"
          ? Math.max(...told.text.split("\n\n").map((frame) => Buffer.byteLength(frame)))
          : Buffer.byteLength(told.text);
      assert.ok(largest < 2_000_000, `${page}: ${largest} bytes`);
    }
  });
});

describe("a run over HTTP", () => {
  it("tells what it and those below it did to files, in pages", async (t) => {
    const { bench, id, token } = await writing(t);
    const first = await bench.ask(`/v1/runs/${id}/changes?limit=1`, { token });
    fits("FileChangeList", first.body);
    const second = await bench.ask(`/v1/runs/${id}/changes?limit=1&after=${first.body.next}`, {
      token,
    });
    assert.equal(second.body.next, null);
    const paths = [...first.body.data, ...second.body.data].map(({ path }) => path);
    assert.deepEqual(paths.sort(), ["new.md", "notes.md"]);
  });

  it("tells what it used, and a part of its tree what that part used", async (t) => {
    const { provider } = listening((request) => {
      const words = JSON.stringify(request.items);
      if (words.includes("Work as")) return reply.text("A child's word.");
      if (words.includes("function_call_output")) return reply.text("Done.");
      return reply.calls([call("subagent", { label: "one", task_prompt: "Work as one" })]);
    });
    const bench = await startRuns(t, { provider });
    const token = await bench.key();
    const run = await bench.runtime.run({
      model: "test/model",
      input: "Begin",
      tools: ["subagent"],
    });
    await run.result();
    const by = await bench.ask(`/v1/runs/${run.id}/usage?by=agent`, { token });
    fits("Usage", by.body);
    assert.deepEqual(
      by.body.data.map(({ key, calls }: { key: string; calls: number }) => [key, calls]).sort(),
      [
        [null, 2],
        ["one", 1],
      ],
    );
    const below = encodeURIComponent(`${run.id}/one-1.0`);
    const child = await bench.ask(`/v1/runs/${below}`, { token });
    assert.equal(child.body.totals.calls, 1, "its own, and not the whole tree's");
    assert.equal((await bench.ask(`/v1/runs/${run.id}`, { token })).body.totals.calls, 3);
  });

  it("is exported for people and for programs, as a file to save", async (t) => {
    const { bench, id, token } = await writing(t);
    const md = await bench.ask(`/v1/runs/${id}/export`, { token });
    assert.match(md.text, /^# Session[\s\S]*Both are written\./);
    assert.match(String(md.headers["content-disposition"]), /^attachment; .*\.md$/);
    assert.equal(md.headers["x-content-type-options"], "nosniff");
    const lines = await bench.ask(`/v1/runs/${id}/export?format=jsonl`, { token });
    const events = lines.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    assert.deepEqual([events[0]?.type, events.at(-1)?.type], ["run_start", "run_end"]);
    assert.equal((await bench.ask(`/v1/runs/${id}/export?format=pdf`, { token })).status, 400);
  });

  it("is compared with its replay, and with one after a change", async (t) => {
    const { bench, id, token } = await writing(t);
    const post = { method: "POST", token };
    const same = await bench.ask(`/v1/runs/${id}/replay`, post);
    fits("RunReplay", same.body);
    assert.equal(same.body.first_difference, null);
    assert.deepEqual(
      same.body.rows.map(({ kind }: { kind: string }) => kind),
      ["input", "turn", "call", "call", "turn", "ending"],
    );
    const other = await bench.ask(`/v1/runs/${id}/replay`, {
      ...post,
      body: { prompt: "Say hello" },
    });
    const { rows, first_difference: at } = other.body;
    assert.deepEqual([rows[at].kind, rows[at].state], ["input", "different"]);
    assert.match(rows[at].b.text, /Say hello/);
  });

  it("is followed with those below it from the present on", async (t) => {
    let goOn = (): void => {};
    const waits = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { provider } = listening((request) =>
      JSON.stringify(request.items).includes("function_call_output")
        ? reply.text("Done.")
        : JSON.stringify(request.items).includes("Work as")
          ? reply.text("A child's word.")
          : reply.calls([call("subagent", { label: "one", task_prompt: "Work as one" })]),
    );
    const slow: Provider = {
      name: "slow",
      async *stream(request, one) {
        if (JSON.stringify(request.items).includes("function_call_output")) await waits;
        yield* provider.stream(request, one);
      },
    };
    const bench = await startRuns(t, { provider: slow });
    const token = await bench.key();
    const run = await bench.runtime.run({
      model: "test/model",
      input: "Begin",
      tools: ["subagent"],
    });
    const child = `${run.id}/one-1.0`;
    await until(async () => {
      const { body } = await bench.ask(`/v1/runs/${encodeURIComponent(child)}`, { token });
      return body.status === "ended" ? true : undefined;
    }, "the child's end");
    const following = bench.ask(`/v1/runs/${run.id}/follow?tree=live`, { token });
    goOn();
    const frames = framesOf((await following).text);
    assert.deepEqual([...new Set(frames.map(({ run_id }) => run_id))], [run.id]);
    assert.equal(frames[0].events[0].type, "run_start", "its own log from the beginning");
  });
});

describe("news of runs", () => {
  it("come at once, and for each change", async (t) => {
    const { provider } = listening(() => reply.text("Done."));
    const bench = await startRuns(t, { provider });
    const token = await bench.key();
    const frames: { runs: string; questions: number }[] = [];
    const left = new AbortController();
    const record = await bench.runtime.openRecord();
    const watching = (async () => {
      for await (const frame of record.watch({ tenant: undefined }, left.signal)) {
        frames.push(frame);
        if (frames.length === 2) left.abort();
      }
    })();
    await until(async () => (frames.length > 0 ? true : undefined), "the first frame");
    const run = await bench.runtime.run({ model: "test/model", input: "Begin", tools: [] });
    await run.result();
    await watching;
    for (const frame of frames) fits("WatchFrame", frame);
    assert.notEqual(frames[0]?.runs, frames[1]?.runs);
    const told = await bench.ask("/v1/watch", { token, isLeft: true });
    assert.deepEqual([told.status, framesOf(told.text)[0].questions], [200, 0]);
    assert.match(String(told.headers["content-type"]), /^text\/event-stream/);
  });
});
