/**
 * A tree over machines: a server that starts a response with 50 subagents, and two workers that run these. They
 * share nothing but a Postgres.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import {
  createScriptedProvider,
  type Reply,
  reply,
  type ScriptEngine,
  startChatUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { createGate, type Gate } from "../engine/engine-bench.ts";
import { until, untilTrue } from "../patience.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import { createPlace, type Place, type RunningCommand } from "./command.ts";
import { type Served, serve } from "./served.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres({ durable: true }) : undefined;
after(() => server?.[Symbol.asyncDispose]());

const CHILDREN = 50;
const usage = { input: 100, output: 10 };
const OWN = { type: "mcp", server_label: "offshoot", require_approval: "never" };

interface Tree extends Upstream {
  readonly gate: Gate;
  /** How many subagents have asked. */
  readonly asked: number;
}

/** The root asks for all at once; each subagent waits for the gate. */
async function startTree(): Promise<Tree> {
  const gate = createGate();
  let asked = 0;
  const choose = (text: string): Reply => {
    if (!text.includes("Begin")) return reply.text("Done.", { usage });
    if (text.includes("function_call_output")) return reply.text("All done.", { usage });
    const calls = Array.from({ length: CHILDREN }, (_, at) => ({
      name: "offshoot__subagent",
      arguments: { label: `c${at}`, task_prompt: `part ${at}` },
    }));
    return reply.calls(calls, { usage });
  };
  const engine: ScriptEngine = async function* (request, { signal }) {
    const text = JSON.stringify(request.items);
    if (!text.includes("Begin")) {
      asked++;
      await gate.opened;
    }
    yield* createScriptedProvider(choose(text)).stream(request, { signal, run: "" });
  };
  const upstream = await startChatUpstream({ engine });
  return Object.defineProperty(Object.assign(upstream, { gate, asked }), "asked", {
    get: () => asked,
  });
}

interface ListedRun {
  readonly id: string;
  readonly state: string;
}

interface Machines extends AsyncDisposable {
  readonly served: Served;
  readonly workers: readonly RunningCommand[];
  list(): Promise<readonly ListedRun[]>;
}

const MODEL = ({ url }: Upstream): string[] => [
  ...["-m", "custom/test", "--provider", "openai-chat", "--url", url],
];

/** The server runs no subagent that may run elsewhere; each worker 30 at once. */
async function startMachines(upstream: Upstream): Promise<Machines> {
  const OFFSHOOT_STORE = (await server?.newAddress()) ?? assert.fail();
  const places: Place[] = [];
  const openPlace = async (subagents: number): Promise<[Place, Record<string, string>]> => {
    const settings = `agent: {subagent: {executor: anywhere}}\nserver: {max_subagents: ${subagents}}\n`;
    const place = await createPlace({ "config.yaml": settings });
    places.push(place);
    return [place, { OFFSHOOT_STORE, OFFSHOOT_CONFIG: join(place.cwd, "config.yaml") }];
  };
  const [place, env] = await openPlace(0);
  const served = await serve({ place, env, args: [...MODEL(upstream), "--tools", "subagent"] });
  const workers: RunningCommand[] = [];
  for (const _ of [1, 2]) {
    const [at, variables] = await openPlace(30);
    const worker = at.start(["worker", ...MODEL(upstream)], { env: variables });
    await worker.waitForStderr(/working/);
    workers.push(worker);
  }
  return {
    ...{ served, workers },
    async list() {
      const listed = await place.run(["runs", "list", "--all", "-n", "200", "--json"], { env });
      assert.equal(listed.code, 0, listed.stderr);
      return JSON.parse(listed.stdout) as ListedRun[];
    },
    async [Symbol.asyncDispose]() {
      for (const { child, ended } of workers) {
        child.kill("SIGKILL");
        await ended.catch(() => {});
      }
      await served[Symbol.asyncDispose]();
      for (const one of places) await one[Symbol.asyncDispose]();
    },
  };
}

const held = POSTGRES_LACK === undefined ? "" : ` (skipped: ${POSTGRES_LACK})`;

describe(`a tree over machines${held}`, { skip: POSTGRES_LACK !== undefined }, () => {
  it("has its subagents run by workers, and what they used in its answer", async () => {
    await using upstream = await startTree();
    await using machines = await startMachines(upstream);
    const { served } = machines;
    const { id } = await served.create({ input: "Begin", tools: [OWN], background: true });
    await untilTrue(() => upstream.asked === CHILDREN, "all subagents work at once");
    upstream.gate.open();
    const response = await until(async () => {
      const found = (await served.ask("GET", `/v1/responses/${id}`)).body as EmittedResponse;
      return found.status === "completed" ? found : undefined;
    }, "the response is completed");
    assert.equal(response.output_text, "All done.");
    const calls = upstream.requests.length;
    assert.equal(response.usage?.total_tokens, calls * 110, `${calls} calls`);
  });

  it("is cancelled as a whole", async () => {
    await using upstream = await startTree();
    await using machines = await startMachines(upstream);
    const { served } = machines;
    const { id } = await served.create({ input: "Begin", tools: [OWN], background: true });
    await untilTrue(() => upstream.asked === CHILDREN, "all subagents work at once");
    const cancelled = await served.ask("POST", `/v1/responses/${id}/cancel`);
    assert.equal((cancelled.body as EmittedResponse).status, "cancelled");
    const runs = await machines.list();
    assert.equal(runs.length, 1 + CHILDREN);
    assert.deepEqual([...new Set(runs.map(({ state }) => state))], ["cancelled"]);
    upstream.gate.open();
  });

  it("goes on when a worker is killed", async () => {
    await using upstream = await startTree();
    await using machines = await startMachines(upstream);
    const { served, workers } = machines;
    const { id } = await served.create({ input: "Begin", tools: [OWN], background: true });
    await untilTrue(() => upstream.asked === CHILDREN, "all subagents work at once");
    workers[0]?.child.kill("SIGKILL");
    upstream.gate.open();
    const response = await until(async () => {
      const found = (await served.ask("GET", `/v1/responses/${id}`)).body as EmittedResponse;
      return found.status === "completed" ? found : undefined;
    }, "the response is completed");
    assert.equal(response.output_text, "All done.");
  });

  it("has workers that say what they lack", async () => {
    await using place = await createPlace();
    const refused = await place.run(["worker", "--store", "postgres://nobody@127.0.0.1:1/none"]);
    assert.equal(refused.code, 1, refused.stderr);
    assert.match(refused.stderr, /^offshoot: [^\n]+\n$/);
  });
});
