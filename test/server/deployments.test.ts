/** Names with several deployments, through a whole server. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import type { Deployment } from "../../src/agent/task.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { LoggedEvent, RunEnd } from "../../src/protocol/run-events.ts";
import { createHealths } from "../../src/providers/deployments/health.ts";
import type { ModelOverride } from "../../src/providers/models/models.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import {
  type Reply,
  reply,
  respond,
  type Script,
  script,
  startChatUpstream,
  startMessagesUpstream,
  startResponsesUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { type ServerSetup, startServer, type TestServer } from "./server-fixture.ts";

type Start = (options: { readonly engine: Script; readonly account: string }) => Promise<Upstream>;

/** How a deployment of a test is made. */
interface Given {
  readonly engine: Script;
  readonly start?: Start;
  readonly provider?: string;
  readonly vendor?: string;
  readonly keyName?: string;
}

interface Deployed extends TestServer {
  readonly upstreams: Readonly<Record<string, Upstream>>;
  /** The record's log of a response. */
  logOf(id: string): Promise<readonly LoggedEvent[]>;
}

const RETRY = { attempts: 1, baseMs: 0, maxMs: 0, maxRetryAfterMs: 0 };

/** A server that knows the name `fast`, whose first deployment is always asked first. */
async function deploy(
  t: TestContext,
  given: Readonly<Record<string, Given>>,
  { settings, ...setup }: ServerSetup = {},
): Promise<Deployed> {
  const upstreams: Record<string, Upstream> = {};
  const deployments: Deployment[] = [];
  for (const [name, one] of Object.entries(given)) {
    const { engine, start = startChatUpstream, provider, vendor = "custom", keyName } = one;
    const upstream = await start({ engine, account: name });
    t.after(() => upstream.close());
    upstreams[name] = upstream;
    deployments.push({
      model: `${vendor}/${name}`,
      provider: provider ?? null,
      url: upstream.url,
      api_key_name: keyName ?? null,
      weight: 1,
      fallback: false,
    });
  }
  const [first] = deployments;
  const { weight: _, fallback: __, ...target } = first ?? assert.fail("no deployment");
  const models = { named: [["fast", { ...target, deployments }]] as const, usual: undefined };
  const server = await startServer(t, script(), {
    retry: RETRY,
    random: () => 0,
    healths: createHealths(),
    ...setup,
    settings: { ...settings, models },
  });
  return {
    ...server,
    upstreams,
    logOf: async (id) => await server.responses.durable.record.readEvents(toRunId(id), -1, 1000),
  };
}

const say = (text: string): Given => ({ engine: respond(() => reply.text(text)) });
const down = (): Given => ({ engine: respond(() => reply.status(503, "down")) });

function countOf({ upstreams }: Deployed): Record<string, number> {
  return Object.fromEntries(
    Object.entries(upstreams).map(([name, { requests }]) => [name, requests.length]),
  );
}

function endOf(log: readonly LoggedEvent[]): RunEnd {
  const event = log.at(-1)?.event;
  return event?.type === "run_end" ? event : assert.fail("no end");
}

describe("a name with several deployments", () => {
  const forms: readonly [string, object][] = [
    ["stored", {}],
    ["not stored", { store: false }],
    ["with a tool of the server's", { store: false, tools: [{ type: "web_search" }] }],
  ];
  for (const [what, more] of forms) {
    it(`answers with the next one where the first is down: ${what}`, async (t) => {
      const server = await deploy(t, { a: down(), b: say("From b."), c: say("From c.") });
      const response = await server.create({ model: "fast", input: "Hi", ...more });
      assert.equal(response.model, "fast");
      assert.equal(response.output[0]?.type === "message" && textOf(response), "From b.");
      const events = await server.stream({ model: "fast", input: "Hi", ...more });
      const last = events.at(-1);
      assert.ok(last && "response" in last);
      assert.equal(last.response.model, "fast");
      assert.equal(textOf(last.response), "From b.");
      assert.deepEqual(countOf(server), { a: 2, b: 2, c: 0 });
      assert.equal(server.upstreams["b"]?.requests[0]?.body["model"], "b");
    });
  }

  it("tells an SDK's chat completion of its own name too", async (t) => {
    const server = await deploy(t, { a: down(), b: say("From b.") });
    const messages = [{ role: "user", content: "Hi" }];
    const path = "/v1/chat/completions";
    const { status, body } = await server.ask("POST", path, { model: "fast", messages });
    assert.equal(status, 200);
    assert.equal((body as JsonObject)["model"], "fast");
  });

  it("has in its record who answered each turn, what that cost and how many tries it took", async (t) => {
    const price = (usd: number): ModelOverride["price"] => ({
      input: usd,
      cached: usd,
      cacheWrite: usd,
      output: usd,
    });
    const overrides: ModelOverride[] = [
      { vendor: "custom", name: "a", price: price(1000) },
      { vendor: "custom", name: "b", price: price(2) },
    ];
    const used = reply.text("From b.", { usage: { input: 100, output: 50 } });
    const b = { engine: respond(() => used) };
    const server = await deploy(t, { a: down(), b }, { overrides });
    const { id } = await server.create({ model: "fast", input: "Hi" });
    const log = await server.logOf(id);
    const host = new URL(server.upstreams["b"]?.url ?? "").host;
    const by = { deployment: `custom/b@${host}`, model: "custom/b", tries: 2 };
    const turn = log.find(({ event }) => event.type === "turn_end")?.event;
    assert.ok(turn?.type === "turn_end");
    assert.deepEqual(turn.by, by);
    assert.equal(turn.cost_usd, (150 * 2) / 1_000_000);
    assert.deepEqual(endOf(log).by, by);
    assert.ok(log.some(({ event }) => event.type === "notice" && event.code === "fallback"));
  });

  it("tells who answered of a response that leaves no record, and charges that one's price", async (t) => {
    const told: LoggedEvent[] = [];
    const charged: number[] = [];
    const price = { input: 2, cached: 2, cacheWrite: 2, output: 2 };
    const overrides: ModelOverride[] = [{ vendor: "custom", name: "b", price }];
    const used = reply.text("From b.", { usage: { input: 100, output: 50 } });
    const server = await deploy(
      t,
      { a: down(), b: { engine: respond(() => used) } },
      {
        overrides,
        caller: { keyId: "key_1" },
        settings: {
          observeDirect: (logged) => told.push(logged),
          charge: async (_, { usd }) => void charged.push(usd),
        },
      },
    );
    const asked = { model: "fast", input: "Hi", store: false };
    await server.create(asked);
    await server.stream(asked);
    const ends = told.flatMap(({ event }) => (event.type === "run_end" ? [event.by] : []));
    assert.deepEqual(
      ends.map((by) => [by?.model, by?.tries]),
      [
        ["custom/b", 2],
        ["custom/b", 2],
      ],
    );
    assert.deepEqual(charged, [0.0003, 0.0003]);
  });

  it("sends the length that a budget pays for only to models that could answer at such length", async (t) => {
    const small: ModelOverride = { vendor: "custom", name: "a", contextTokens: 32_768 };
    const overrides = [small, { ...small, name: "b", contextTokens: 4_000_000 }];
    const caller = { limits: { ...NO_LIMITS, tokens: 1_000_000 } };
    const server = await deploy(t, { a: down(), b: say("From b.") }, { overrides, caller });
    await server.create({ model: "fast", input: "Hi" });
    const lengths = ["a", "b"].map((name) => {
      const sent = server.upstreams[name]?.requests[0]?.body;
      return sent?.["max_completion_tokens"] ?? sent?.["max_tokens"];
    });
    assert.equal(lengths[0], undefined);
    assert.ok(Number(lengths[1]) > 900_000, `${lengths[1]} tokens`);
    const asked = { model: "fast", input: "Hi", max_output_tokens: 40_000 };
    await server.create(asked);
    const last = server.upstreams["a"]?.requests.at(-1)?.body;
    assert.equal(last?.["max_completion_tokens"] ?? last?.["max_tokens"], 40_000);
  });

  it("reserves the price of the most expensive one, and needs to know all of them", async (t) => {
    const price = { input: 1000, cached: 1000, cacheWrite: 1000, output: 1000 };
    const cheap = { input: 1, cached: 1, cacheWrite: 1, output: 1 };
    const dear: ModelOverride = { vendor: "custom", name: "a", price };
    const overrides = [dear, { ...dear, name: "b", price: cheap }];
    const caller = { limits: { ...NO_LIMITS, usd: 0.2 } };
    const server = await deploy(t, { a: down(), b: say("From b.") }, { overrides, caller });
    await server.create({ model: "fast", input: "Hi" });
    const sent = server.upstreams["b"]?.requests[0]?.body;
    const most = Number(sent?.["max_completion_tokens"] ?? sent?.["max_tokens"]);
    assert.ok(most > 0 && most < 200, `${most} tokens for $0.20 at $1000 for a million`);
    const other = await deploy(t, { a: down(), b: say("x") }, { overrides: [dear], caller });
    const refused = await other.ask("POST", "/v1/responses", { model: "fast", input: "Hi" });
    assert.equal(refused.status, 400);
    assert.match(JSON.stringify(refused.body), /price is not known/);
  });

  it("leaves out a deployment whose key is not set, and refuses where no key is", async (t) => {
    const server = await deploy(t, { a: say("From a."), b: say("From b.") });
    const withoutKey: Given = { ...say("From a."), keyName: "NOT_SET" };
    const other = await deploy(t, { a: withoutKey, b: say("From b.") });
    assert.equal(textOf(await server.create({ model: "fast", input: "Hi" })), "From a.");
    assert.equal(textOf(await other.create({ model: "fast", input: "Hi" })), "From b.");
    const none = await deploy(t, { a: withoutKey, b: withoutKey });
    const refused = await none.ask("POST", "/v1/responses", { model: "fast", input: "Hi" });
    assert.equal(refused.status, 503);
  });

  it("fails as the last one does where all are down, and as the first where the request is wrong", async (t) => {
    const server = await deploy(t, { a: down(), b: down() });
    const { status } = await server.ask("POST", "/v1/responses", { model: "fast", input: "Hi" });
    assert.equal(status, 429);
    assert.deepEqual(countOf(server), { a: 1, b: 1 });
    const wrong = { engine: respond(() => reply.status(400, { error: { message: "no" } })) };
    const other = await deploy(t, { a: wrong, b: say("From b.") });
    const refused = await other.ask("POST", "/v1/responses", { model: "fast", input: "Hi" });
    assert.equal(refused.status, 400);
    assert.deepEqual(countOf(other), { a: 1, b: 0 });
  });

  it("gives no words of a second one after those of the first", async (t) => {
    const half = { engine: respond(() => reply.failure("broke", { text: "Half of a" })) };
    const server = await deploy(t, { a: half, b: say("From b.") });
    const events = await server.stream({ model: "fast", input: "Hi" });
    const said = events.flatMap((event) =>
      event.type === "response.output_text.delta" ? [event.delta] : [],
    );
    assert.equal(said.join(""), "Half of a");
    assert.equal(events.at(-1)?.type, "response.failed");
    assert.deepEqual(countOf(server), { a: 1, b: 0 });
  });

  it("stays with who answered within a response, and moves on where that one fails", async (t) => {
    let turns = 0;
    const call = respond(({ tools }) => {
      const found = tools.find((tool) => tool.type === "function" && /find/.test(tool.name));
      const name = found?.type === "function" ? found.name : "";
      const calls = reply.calls([{ name, arguments: { path: "." } }]);
      return ++turns > 2 ? reply.status(503, "down") : calls;
    });
    const server = await deploy(
      t,
      {
        a: { engine: script(reply.status(503, "down"), reply.text("From a.")) },
        b: { engine: call },
      },
      { files: { "x.txt": "x" } },
    );
    const tools = [{ type: "mcp", server_label: "offshoot", require_approval: "never" }];
    const response = await server.create({ model: "fast", input: "Look", tools });
    assert.equal(textOf(response), "From a.");
    assert.deepEqual(countOf(server), { a: 2, b: 3 });
  });

  it("asks each for JSON in the way that its API has", async (t) => {
    const json = { engine: respond(() => reply.text('{"a": 1}')) };
    const b: Given = { ...json, start: startMessagesUpstream, vendor: "anthropic" };
    const server = await deploy(t, { a: down(), b });
    const asked = {
      model: "fast",
      input: "As an object",
      text: { format: { type: "json_object" } },
    };
    assert.equal(textOf(await server.create(asked)), '{"a": 1}');
    assert.equal("response_format" in (server.upstreams["a"]?.requests[0]?.body ?? {}), true);
    assert.match(JSON.stringify(server.upstreams["b"]?.requests[0]?.body), /JSON/);
  });

  it("is asked by its name alone, not by those of its deployments", async (t) => {
    const server = await deploy(t, { a: say("From a."), b: say("From b.") });
    const asked = { model: "a", input: "Hi" };
    const { status } = await server.ask("POST", "/v1/responses", asked);
    assert.equal(status, 400);
  });
});

describe("a conversation that continues with another deployment", () => {
  const thinking = reply.reasoning("Let me see.", reply.text("Thought."));
  const wires: Readonly<Record<string, Omit<Given, "engine">>> = {
    "the Responses API": { start: startResponsesUpstream, provider: "openai-responses" },
    "the Messages API": { start: startMessagesUpstream, vendor: "anthropic" },
    "chat completions": { start: startChatUpstream },
  };
  for (const [from, first] of Object.entries(wires)) {
    for (const [to, second] of Object.entries(wires)) {
      for (const store of [true, false]) {
        it(`from ${from} to ${to}, ${store ? "stored" : "with the client's own history"}`, async (t) => {
          const answers: Reply[] = [thinking, reply.status(503, "down")];
          const server = await deploy(t, {
            a: { ...first, engine: script(...answers) },
            b: { ...second, engine: script(reply.text("Went on.")) },
          });
          const include = ["reasoning.encrypted_content"];
          const asked = await server.create({ model: "fast", input: "Hi", store, include });
          const more = { role: "user", content: "And now?" };
          const next = store
            ? { input: [more], previous_response_id: asked.id }
            : { input: [{ role: "user", content: "Hi" }, ...asked.output, more] };
          const answered = await server.create({ model: "fast", store, include, ...next });
          assert.equal(textOf(answered), "Went on.");
          assert.deepEqual(countOf(server), { a: 2, b: 1 });
          const sent = JSON.stringify(server.upstreams["b"]?.requests[0]?.body);
          assert.match(sent, /Thought\./);
          assert.doesNotMatch(sent, /account-|previous_response_id/);
        });
      }
    }
  }
});

function textOf({ output }: { readonly output: readonly unknown[] }): string {
  return output
    .flatMap((item) => {
      const { type, content } = item as { type: string; content?: readonly { text?: string }[] };
      return type === "message" ? (content ?? []).map(({ text = "" }) => text) : [];
    })
    .join("");
}
