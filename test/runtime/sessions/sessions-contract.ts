/** What sessions do, on every record: memory, SQLite, Postgres. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { z } from "zod";
import { toPlainText } from "../../../src/agent/context/message-text.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import {
  createRuntime,
  type Run,
  type RunRequest,
  type Runtime,
} from "../../../src/runtime/runtime.ts";
import {
  createScriptedProvider,
  type Reply,
  reply,
  type ScriptedProvider,
} from "../../../src/testing/index.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { untilTrue } from "../../patience.ts";

interface Bench {
  readonly runtime: Runtime;
  readonly provider: ScriptedProvider;
  run(input: string, more?: Partial<RunRequest>): Promise<Run>;
  /** Runs it to its end. */
  ask(input: string, more?: Partial<RunRequest>): Promise<Run>;
}

const look = defineTool({
  name: "look",
  description: "Looks.",
  parameters: z.object({}),
  readOnly: true,
  run: async () => "seen",
});

type OpenAddress = (t: TestContext) => Promise<string | undefined>;

async function openBench(
  t: TestContext,
  address: string | undefined,
  ...replies: readonly Reply[]
): Promise<Bench> {
  const provider = createScriptedProvider(...replies);
  const runtime = await createRuntime({ env: {}, storePath: address, provider, tools: [look] });
  t.after(() => runtime.close());
  const run = (input: string, more: Partial<RunRequest> = {}): Promise<Run> =>
    runtime.run({ model: "mine/one", input, tools: ["look"], root: "/", ...more });
  const ask = async (input: string, more: Partial<RunRequest> = {}): Promise<Run> => {
    const started = await run(input, more);
    await started.result();
    return started;
  };
  return { runtime, provider, run, ask };
}

/** What a model was sent: who said what, and which calls there were. */
function said(items: readonly Item[] | undefined): string[] {
  return (items ?? []).map((item) => {
    if (item.type === "message") return `${item.role}: ${toPlainText(item.content)}`;
    return item.type === "function_call_output" ? `result: ${toPlainText(item.output)}` : item.type;
  });
}

function asked({ provider }: Bench, turn: number): string[] {
  const request: ModelRequest | undefined = provider.requests[turn - 1];
  return said(request?.items);
}

function idOf({ session }: Run): string {
  return session ?? assert.fail("The run has no session.");
}

export function describeSessions(name: string, openAddress: OpenAddress): void {
  describe(`a session on ${name}`, () => {
    const open = async (t: TestContext, ...replies: readonly Reply[]): Promise<Bench> =>
      await openBench(t, await openAddress(t), ...replies);

    it("continues with everything that its runs said", async (t) => {
      const bench = await open(
        t,
        reply.calls([{ name: "look", arguments: {} }]),
        reply.text("One."),
        reply.text("Two."),
        reply.text("Three."),
      );
      const first = await bench.ask("first", { session: "new" });
      const second = await bench.ask("second", { session: idOf(first) });
      const third = await bench.ask("third", { session: "last" });
      assert.deepEqual([second.session, third.session], [first.session, first.session]);
      assert.deepEqual(asked(bench, 4), [
        "user: first",
        "function_call",
        "result: seen",
        "assistant: One.",
        "user: second",
        "assistant: Two.",
        "user: third",
      ]);
    });

    it("is listed with its runs, its folder and its title, the last used first", async (t) => {
      const bench = await open(t, reply.text("1"), reply.text("2"), reply.text("3"));
      const first = await bench.ask("first", { session: "new", root: "/" });
      const other = await bench.ask("other", { session: "new", root: "/tmp" });
      const again = await bench.ask("more", { session: idOf(first), root: "/" });
      const { sessions } = bench.runtime;
      const all = await sessions.list();
      assert.deepEqual(
        all.map(({ id, title, folder, runs }) => ({ id, title, folder, runs })),
        [
          { id: first.session, title: "first", folder: "/", runs: [first.id, again.id] },
          { id: other.session, title: "other", folder: "/tmp", runs: [other.id] },
        ],
      );
      const ids = async (query: Parameters<typeof sessions.list>[0]): Promise<string[]> =>
        (await sessions.list(query)).map(({ id }) => id);
      assert.deepEqual(await ids({ folder: "/tmp" }), [other.session]);
      assert.deepEqual(await ids({ text: "MORE" }), [first.session]);
      assert.deepEqual(await ids({ text: "2" }), [other.session]);
      assert.deepEqual(await ids({ untilMs: 1 }), []);
      assert.deepEqual(await ids({ limit: 1 }), [first.session]);
    });

    it("is found by its id, the beginning of it, a run of it and `last`", async (t) => {
      const bench = await open(t, reply.text("1"));
      const run = await bench.ask("first", { session: "new" });
      const { sessions } = bench.runtime;
      for (const named of [idOf(run), idOf(run).slice(0, -3), run.id, "last"]) {
        assert.equal((await sessions.get(named)).id, run.session, named);
      }
      await assert.rejects(sessions.get("last", { folder: "/nowhere" }), {
        code: "not_found",
        message: /no session in this folder yet/,
      });
      await assert.rejects(sessions.get("conv_nope"), { code: "not_found" });
      await assert.rejects(sessions.get("run_nope"), { code: "not_found" });
    });

    it("begins with a run that belonged to no session", async (t) => {
      const bench = await open(t, reply.text("One."), reply.text("Two."));
      const lone = await bench.ask("first");
      assert.equal(lone.session, undefined);
      await bench.ask("second", { session: lone.id });
      assert.deepEqual(asked(bench, 2), ["user: first", "assistant: One.", "user: second"]);
    });

    it("continues after a limit, with a result for the call that had none", async (t) => {
      const bench = await open(
        t,
        reply.calls([{ name: "look", arguments: {} }]),
        reply.text("Done."),
      );
      const first = await bench.ask("first", { session: "new", max_turns: 1 });
      assert.equal((await first.result()).ending, "max_turns");
      await bench.ask("go on", { session: idOf(first) });
      assert.deepEqual(asked(bench, 2).slice(0, 3), [
        "user: first",
        "function_call",
        "result: seen",
      ]);
    });

    it("continues after a failure and after a cancel", async (t) => {
      const bench = await open(t, reply.status(400), reply.silence("Half"), reply.text("Three."));
      const first = await bench.ask("first", { session: "new" });
      assert.equal((await first.result()).ending, "failed");
      const second = await bench.run("second", { session: idOf(first) });
      await untilTrue(() => bench.provider.requests.length === 2, "the second request");
      await second.cancel();
      assert.equal((await second.result()).ending, "cancelled");
      await bench.ask("third", { session: idOf(first) });
      const third = asked(bench, 3);
      assert.deepEqual(
        third.filter((line) => line.startsWith("user:")),
        ["user: first", "user: second", "user: third"],
      );
    });

    it("is forked at a turn, and the fork is a session of its own", async (t) => {
      const bench = await open(
        t,
        reply.calls([{ name: "look", arguments: {} }]),
        reply.text("One."),
        reply.text("Two."),
        reply.text("Other."),
      );
      const first = await bench.ask("first", { session: "new" });
      await bench.ask("second", { session: idOf(first) });
      const { sessions } = bench.runtime;
      const turns = await sessions.turns(idOf(first));
      assert.deepEqual(
        turns.map(({ turn, prompt, text, calls }) => [turn, prompt, text, calls]),
        [
          [1, "first", "", ["look"]],
          [2, null, "One.", []],
          [3, "second", "Two.", []],
        ],
      );
      const fork = await bench.ask("else", { session: { id: idOf(first), fork: 2 } });
      assert.deepEqual(fork.forked, { session: first.session, turn: 2, why: "asked" });
      assert.notEqual(fork.session, first.session);
      assert.deepEqual(asked(bench, 4).slice(-2), ["assistant: One.", "user: else"]);
      await sessions.delete(idOf(first));
      assert.equal((await sessions.items(idOf(fork))).length, 6);
      assert.deepEqual((await sessions.get(idOf(fork))).forked_from, {
        session: first.session,
        turn: 2,
      });
      const wrong = bench.run("x", { session: { id: idOf(fork), fork: 9 } });
      await assert.rejects(wrong, { code: "invalid_request", message: /no turn 9.*turns 1 to 3/ });
    });

    it("is listed once, when it was forked or last used", async (t) => {
      const bench = await open(t, ...["One.", "Two.", "Three."].map((text) => reply.text(text)));
      const first = await bench.ask("a", { session: "new" });
      const second = await bench.ask("b", { session: "new" });
      const { sessions } = bench.runtime;
      const { id } = await sessions.fork(idOf(first));
      const listed = async (): Promise<string[]> => (await sessions.list()).map((one) => one.id);
      assert.deepEqual((await listed()).sort(), [id, idOf(first), idOf(second)].sort());
      await bench.ask("c", { session: id });
      assert.deepEqual((await listed()).sort(), [id, idOf(first), idOf(second)].sort());
      await sessions.delete(id);
      assert.deepEqual((await listed()).sort(), [idOf(first), idOf(second)].sort());
    });

    it("is forked for a run that comes while another is at work", async (t) => {
      const bench = await open(t, reply.text("One."), reply.silence(), reply.text("Mine."));
      const first = await bench.ask("first", { session: "new" });
      const busy = await bench.run("busy", { session: idOf(first) });
      await untilTrue(() => bench.provider.requests.length === 2, "the second request");
      const second = await bench.ask("second", { session: idOf(first) });
      assert.deepEqual(second.forked, { session: first.session, turn: 1, why: "busy" });
      assert.deepEqual(asked(bench, 3), ["user: first", "assistant: One.", "user: second"]);
      await busy.cancel();
    });

    it("accepts one of two runs that continue it at the same moment, and forks for the other", async (t) => {
      // Neither ends by itself: a run that had ended would not block the other.
      const bench = await open(t, reply.text("One."), reply.silence(), reply.silence());
      const first = await bench.ask("first", { session: "new" });
      const both = await Promise.all([
        bench.run("second", { session: idOf(first) }),
        bench.run("third", { session: idOf(first) }),
      ]);
      const whys = both.map(({ forked }) => forked?.why ?? "");
      assert.deepEqual(whys.sort(), ["", "busy"]);
      for (const run of both) await run.cancel();
    });

    it("is renamed, and deleted with its runs", async (t) => {
      const bench = await open(t, reply.text("One."));
      const run = await bench.ask("first", { session: "new" });
      const { sessions, engine } = bench.runtime;
      await sessions.rename(idOf(run), "  Better\u001b[31m name ");
      assert.match((await sessions.get(idOf(run))).title, /^Better/);
      await assert.rejects(sessions.rename(idOf(run), " "), { code: "invalid_request" });
      await sessions.delete(idOf(run));
      await assert.rejects(sessions.get(idOf(run)), { code: "not_found" });
      assert.equal(await engine.status(run.id), undefined);
      assert.deepEqual(await sessions.list(), []);
    });

    it("is not deleted while a run of it is at work", async (t) => {
      const bench = await open(t, reply.silence());
      const run = await bench.run("first", { session: "new" });
      await untilTrue(() => bench.provider.requests.length === 1, "the request");
      await assert.rejects(bench.runtime.sessions.delete(idOf(run)), { code: "conflict" });
      await run.cancel();
    });

    it("is not continued by a run before which it was deleted", async (t) => {
      const bench = await open(t, reply.text("One."));
      const first = await bench.ask("first", { session: "new" });
      const { engine, sessions } = bench.runtime;
      const submit = engine.submit.bind(engine);
      let second = "";
      engine.submit = async (name, input, options) => {
        second = options.id;
        await sessions.delete(idOf(first));
        await submit(name, input, options);
      };
      const refused = bench.run("second", { session: idOf(first) });
      await assert.rejects(refused, { code: "not_found" });
      assert.equal(await engine.status(second), undefined);
      assert.equal(bench.provider.requests.length, 1);
    });

    it("keeps its instructions from its first run on, unless others are given", async (t) => {
      const bench = await open(t, reply.text("1"), reply.text("2"), reply.text("3"));
      const first = await bench.ask("first", { session: "new", instructions: "Be brief." });
      await bench.ask("second", { session: idOf(first) });
      await bench.ask("third", { session: idOf(first), instructions: "Be long." });
      const told = bench.provider.requests.map(({ instructions }) => instructions);
      assert.deepEqual(told, ["Be brief.", "Be brief.", "Be long."]);
    });

    it("refuses an unknown name before anything is sent", async (t) => {
      const bench = await open(t);
      for (const session of ["", " ", "conv_nope", "resp_nope"]) {
        await assert.rejects(bench.run("Hi", { session }), { name: "Failure" });
      }
      assert.equal(bench.provider.requests.length, 0);
    });
  });
}
