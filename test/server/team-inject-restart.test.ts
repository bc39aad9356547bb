/**
 * A server that stops after an injection: another one continues with the answers, and does not ask the client again.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { EmittedEvent, EmittedResponse } from "../../src/protocol/emitted.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import type { OpenedResponses } from "../../src/responses/api/open-responses.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { createRuntime, type Runtime } from "../../src/runtime/runtime.ts";
import { reply, type ScriptEngine, startChatUpstream } from "../../src/testing/index.ts";
import { ANYBODY } from "./server-fixture.ts";
import { createGate, type Gate } from "./socket/socket-fixture.ts";
import { callsOf, lastWords, nameOf, playSlowly, spawn, team, told, wait } from "./team-fixture.ts";

const tools = [{ type: "function", name: "weigh", parameters: { type: "object" }, strict: false }];
const weigh = { name: "weigh", arguments: {}, call_id: "call_1" };

const hasAnswer = ({ items }: ModelRequest): boolean =>
  items.some((item) => item.type === "function_call_output" && item.output === "7 kilos");
const asking = (request: ModelRequest) =>
  hasAnswer(request) ? reply.text("It is 7 kilos.") : reply.calls([weigh]);
const heard = ({ items }: ModelRequest): string[] =>
  items.flatMap((item) => /^Message.*\n\n(.*)/.exec(lastWords({ items: [item] }))?.[1] ?? []);

/** The words of the first agent depend only on its input, so that it may be asked again. */
const leading =
  (...names: readonly string[]) =>
  (request: ModelRequest) => {
    const calls = callsOf(request);
    if (calls.length === 0) return reply.calls(names.map((name) => spawn(name, "Go.")));
    if (heard(request).length < names.length) return wait({ targets: names });
    return reply.text(heard(request).sort().join(" "));
  };

interface Case {
  readonly waits: string;
  readonly answer: string;
  agents(gate: Gate): Parameters<typeof playSlowly>[1];
}

const thinking = (gate: Gate) => async () => {
  await gate.opened;
  return reply.text("Thought.");
};

const CASES: Readonly<Record<string, Case>> = {
  "an agent": {
    waits: "/root/a",
    answer: "It is 7 kilos. Thought.",
    agents: (gate) => ({
      "/root": leading("a", "b"),
      "/root/a": asking,
      "/root/b": thinking(gate),
    }),
  },
  "one further down": {
    waits: "/root/a/c",
    answer: "It is 7 kilos. Thought.",
    agents: (gate) => ({
      "/root": leading("a"),
      "/root/a": leading("b", "c"),
      "/root/a/b": thinking(gate),
      "/root/a/c": asking,
    }),
  },
  "the first": {
    waits: "/root",
    answer: "It is 7 kilos.",
    agents: (gate) => ({
      "/root": (request) =>
        hasAnswer(request)
          ? reply.text("It is 7 kilos.")
          : reply.calls([spawn("b", "Think."), weigh]),
      "/root/b": thinking(gate),
    }),
  },
};

describe("a server that stops after an injection", () => {
  for (const [who, { waits, answer, agents }] of Object.entries(CASES)) {
    // The first agent's reaction to an answer is the end of the response.
    const cuts = waits === "/root" ? ["at once"] : ["at once", "when it was read"];
    for (const cut of cuts) {
      it(`lets another one continue that answers ${who}, stopped ${cut}`, async (t) => {
        const gate = createGate();
        const { engine, requests } = playSlowly([], agents(gate));
        const open = await prepare(t, engine);
        const first = await open();
        const { api } = first.responses;
        const { id } = await api.create(
          { input: "Weigh.", background: true, tools, ...team },
          ANYBODY,
        );
        let callId = "";
        await follow(first.responses, id, (event) => {
          if (event.type !== "response.output_item.done" || nameOf(event) !== waits) return false;
          if (event.item.type !== "function_call") return false;
          callId = event.item.call_id;
          return true;
        });
        const item = { type: "function_call_output", call_id: callId, output: "7 kilos" };
        await api.inject(id, [item], ANYBODY);
        const before =
          cut === "at once"
            ? []
            : await follow(first.responses, id, (event) => {
                return event.type === "response.output_text.done" && nameOf(event) === waits;
              });
        await first.runtime.close();

        const second = await open();
        t.after(() => second.runtime.close());
        // Left for the process that takes the run over, which knows that it was answered.
        const again = assert.rejects(second.responses.api.inject(id, [item], ANYBODY), {
          code: "invalid_request",
          message: /No call `call_1\w*` waits for an answer/,
        });
        await second.responses.start();
        await again;
        gate.open();
        await second.runtime.engine.result(toRunId(id));
        const after = await follow(second.responses, id, () => false);
        assert.deepEqual(after.slice(0, before.length), before);
        assert.deepEqual(
          after.map((event) => event.sequence_number),
          after.map((_, at) => at),
        );
        const last = after.at(-1) as { type: string; response: EmittedResponse };
        assert.equal(last.type, "response.completed");
        const { output, output_text } = last.response;
        assert.equal(output_text.slice(-answer.length), answer);
        const whole = told({ output: output.filter((one) => !isCut(one)) });
        const countOf = (line: string): number => whole.filter((one) => one === line).length;
        assert.equal(countOf(`${waits} function_call`), 1, whole.join("\n"));
        assert.equal(countOf(`${waits} message`), 1, whole.join("\n"));
        assert.equal(requests.filter((request) => isAsked(request, waits)).length > 1, true);
        await assert.rejects(second.responses.api.inject(id, [item], ANYBODY), {
          code: "conflict",
          message: "This response has ended.",
        });
      });
    }
  }
});

const isCut = (item: object): boolean => "status" in item && item.status === "incomplete";

function isAsked({ instructions }: ModelRequest, agent: string): boolean {
  if (agent === "/root") return !instructions?.includes("You are /root/");
  return instructions?.includes(`You are ${agent},`) === true;
}

describe("an injection", () => {
  it("reaches a team that works in another process, and so does its refusal", async (t) => {
    const gate = createGate();
    const { waits, answer, agents } = CASES["an agent"] ?? assert.fail();
    const { engine } = playSlowly([], agents(gate));
    const open = await prepare(t, engine);
    const first = await open();
    const second = await open();
    t.after(() => first.runtime.close());
    t.after(() => second.runtime.close());
    const asked = { input: "Weigh.", background: true, tools, ...team };
    const { id } = await first.responses.api.create(asked, ANYBODY);
    let callId = "";
    await follow(first.responses, id, (event) => {
      if (event.type !== "response.output_item.done" || nameOf(event) !== waits) return false;
      if (event.item.type !== "function_call") return false;
      callId = event.item.call_id;
      return true;
    });
    const { api } = second.responses;
    const wrong = { type: "function_call_output", call_id: "call_x", output: "?" };
    await assert.rejects(api.inject(id, [wrong], ANYBODY), { code: "invalid_request" });
    const stranger = { ...ANYBODY, tenant: "stranger" };
    const item = { type: "function_call_output", call_id: callId, output: "7 kilos" };
    await assert.rejects(api.inject(id, [item], stranger), { code: "not_found" });
    await api.inject(id, [item], ANYBODY);
    gate.open();
    await second.runtime.engine.result(toRunId(id));
    const { output_text } = await api.retrieve(id, ANYBODY);
    assert.equal(output_text.slice(-answer.length), answer);
  });
});

type Open = () => Promise<{ readonly runtime: Runtime; readonly responses: OpenedResponses }>;

/** Servers over one file, one after the other. */
async function prepare(t: TestContext, engine: ScriptEngine): Promise<Open> {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-inject-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const upstream = await startChatUpstream({ engine });
  t.after(() => upstream.close());
  const { url } = upstream;
  return async () => {
    const runtime = await createRuntime({ storePath: join(folder, "runs.db"), env: {} });
    const responses = await runtime.openResponses({
      models: {
        named: [],
        usual: { model: "custom/x", provider: "openai-chat", url, api_key_name: null },
      },
      store: true,
      ttlMs: null,
      root: folder,
      maxBackground: 4,
      sealKey: new Uint8Array(32),
    });
    return { runtime, responses };
  };
}

async function follow(
  { api }: OpenedResponses,
  id: string,
  isLast: (event: EmittedEvent) => boolean,
): Promise<EmittedEvent[]> {
  const events: EmittedEvent[] = [];
  for await (const batch of await api.follow(id, ANYBODY, { after: -1 })) {
    events.push(...batch);
    if (batch.some(isLast)) break;
  }
  return events;
}
