/**
 * A tree over machines: a server that starts a response with 50 subagents, and workers that run them. They share only
 * a Postgres.
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
import { createGate, type Gate } from "../engine/engine-fixture.ts";
import { until, untilTrue } from "../patience.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import { createPlace, type Place, type RunningCommand } from "./command.ts";
import { type Served, serve } from "./served.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres({ durable: true }) : undefined;
after(() => server?.[Symbol.asyncDispose]());

const CHILDREN = 50;
/** In tokens: less than all of them need. */
const BUDGET = 4000;
const usage = { input: 100, output: 10 };
const OWN = { type: "mcp", server_label: "offshoot", require_approval: "never" };

interface Tree extends Upstream {
  readonly gate: Gate;
  /** How many subagents have sent a request. */
  readonly asked: number;
}

/** The root starts all at once; each subagent waits for the gate. */
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
  /** Starts one more server, like the first. */
  serveAgain(): Promise<Served>;
  /** Asks the record. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  readonly workers: readonly RunningCommand[];
  /** Starts one more, which runs so many subagents at once. */
  addWorker(subagents: number): Promise<RunningCommand>;
  list(): Promise<readonly ListedRun[]>;
}

const MODEL = ({ url }: Upstream): string[] => [
  ...["-m", "custom/test", "--provider", "openai-chat", "--url", url],
];

interface MachinesSetup {
  /** The tokens of the key that requests are sent with; without it they need no key. */
  readonly budget?: number;
  /** How many subagents each worker runs at once. */
  readonly workers?: readonly number[];
}

/** The server runs no subagent that may run elsewhere. */
async function startMachines(
  upstream: Upstream,
  { budget, workers: rooms = [30, 30] }: MachinesSetup = {},
): Promise<Machines> {
  const OFFSHOOT_STORE = (await server?.newAddress()) ?? assert.fail();
  const places: Place[] = [];
  const openPlace = async (subagents: number): Promise<[Place, Record<string, string>]> => {
    const settings = `agent: {subagent: {executor: anywhere}}\nserver: {max_subagents: ${subagents}}\n`;
    const place = await createPlace({ "config.yaml": settings });
    places.push(place);
    return [place, { OFFSHOOT_STORE, OFFSHOOT_CONFIG: join(place.cwd, "config.yaml") }];
  };
  const [place, env] = await openPlace(0);
  const args = [...MODEL(upstream), "--tools", "subagent"];
  // The key of the record, and no other.
  const key = budget === undefined ? undefined : await makeKey(place, env, budget);
  const keys = key === undefined ? { env } : { key, env: { ...env, OFFSHOOT_SERVER_KEY: "" } };
  const served = await serve({ place, args, ...keys });
  const workers: RunningCommand[] = [];
  const addWorker = async (subagents: number): Promise<RunningCommand> => {
    const [at, variables] = await openPlace(subagents);
    const worker = at.start(["worker", ...MODEL(upstream)], { env: variables });
    workers.push(worker);
    await worker.waitForStderr(/working/);
    return worker;
  };
  for (const subagents of rooms) await addWorker(subagents);
  return {
    served,
    serveAgain: () => serve({ place, args, ...keys }),
    query: (sql) => server?.query(OFFSHOOT_STORE, sql) ?? assert.fail(),
    workers,
    addWorker,
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

async function makeKey(
  place: Place,
  env: Readonly<Record<string, string>>,
  budget: number,
): Promise<string> {
  const flags = ["--tokens-per-day", String(budget)];
  const made = await place.run(["keys", "create", "team", ...flags], { env });
  assert.equal(made.code, 0, made.stderr);
  return made.stdout.trim();
}

interface Spent {
  /** By the endings of the root and of its subagents. */
  readonly root: number;
  readonly children: readonly number[];
  /** On the key. */
  readonly booked: number;
  /** What is still set aside on the key. */
  readonly held: number;
}

async function readSpent({ query }: Machines): Promise<Spent> {
  const endings = `select r.parent_id, (e.event -> 'spent' ->> 'tokens')::bigint as tokens
    from offshoot.runs as r join offshoot.run_events as e on e.run_id = r.id and e.type = 'run_end'`;
  const rows = await query(endings);
  const of = (isRoot: boolean): number[] =>
    rows
      .filter((row) => (row["parent_id"] === null) === isRoot)
      .map((row) => Number(row["tokens"]));
  const booked = await query(`select tokens from offshoot.spending where "window" = 'total'`);
  const holds = await query("select coalesce(sum(tokens), 0) as tokens from offshoot.holds");
  return {
    root: sum(of(true)),
    children: of(false),
    booked: sum(booked.map((row) => Number(row["tokens"]))),
    held: sum(holds.map((row) => Number(row["tokens"]))),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** The tree has ended as a whole, and its key has paid what each of its runs had used, and no more. */
async function checkCancelled(machines: Machines): Promise<void> {
  const states = (await machines.list()).map(({ state }) => state);
  assert.deepEqual([states.length, ...new Set(states)], [1 + CHILDREN, "cancelled"]);
  const spent = await readSpent(machines);
  assert.equal(spent.children.length, CHILDREN);
  // Each has sent its call, which its model has read.
  assert.ok(spent.children.every((tokens) => tokens > 0));
  assert.equal(spent.root, 110 + sum(spent.children));
  assert.deepEqual([spent.booked, spent.held], [spent.root, 0]);
}

interface TreeOwners {
  /** The process that has the root. */
  readonly root: number | undefined;
  /** How many subagents each process has. */
  readonly children: ReadonlyMap<number, number>;
}

async function readOwners({ query }: Machines): Promise<TreeOwners> {
  const rows = await query(`select w.pid, r.parent_id is null as is_root, count(*) as count
    from offshoot.runs as r join offshoot.workers as w on w.id = r.owner
    where r.status = 'running' group by 1, 2`);
  const children = rows.filter((row) => row["is_root"] === false);
  const root = rows.find((row) => row["is_root"] === true);
  return {
    root: root && Number(root["pid"]),
    children: new Map(children.map((row) => [Number(row["pid"]), Number(row["count"])])),
  };
}

const held = POSTGRES_LACK === undefined ? "" : ` (skipped: ${POSTGRES_LACK})`;

describe(`a tree over machines${held}`, { skip: POSTGRES_LACK !== undefined }, () => {
  it("has its subagents run by workers, and their usage in its answer", async () => {
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

  it("pays for what each of its subagents had used when it was cancelled, and gives the rest back", async () => {
    await using upstream = await startTree();
    await using machines = await startMachines(upstream, { budget: 10_000_000 });
    const { served } = machines;
    const { id } = await served.create({ input: "Begin", tools: [OWN], background: true });
    await untilTrue(() => upstream.asked === CHILDREN, "all subagents work at once");
    const cancelled = await served.ask("POST", `/v1/responses/${id}/cancel`);
    assert.equal((cancelled.body as EmittedResponse).status, "cancelled");
    await checkCancelled(machines);
    upstream.gate.open();
  });

  it("is cancelled as a whole and paid exactly after a worker has taken its parent over", async () => {
    await using upstream = await startTree();
    await using machines = await startMachines(upstream, { budget: 10_000_000 });
    const { id } = await machines.served.create({ input: "Begin", tools: [OWN], background: true });
    await untilTrue(() => upstream.asked === CHILDREN, "all subagents work at once");
    machines.served.command.child.kill("SIGKILL");
    const pids = machines.workers.map(({ child }) => child.pid);
    await untilTrue(async () => {
      const { root } = await readOwners(machines);
      return root !== undefined && pids.includes(root);
    }, "a worker has the parent");
    await using another = await machines.serveAgain();
    const cancelled = await another.ask("POST", `/v1/responses/${id}/cancel`);
    assert.equal((cancelled.body as EmittedResponse).status, "cancelled");
    await checkCancelled(machines);
    upstream.gate.open();
  });

  it("with its parent on one worker and its subagents on two others is cancelled as a whole and paid exactly", async () => {
    await using upstream = await startTree();
    await using machines = await startMachines(upstream, { budget: 10_000_000, workers: [0] });
    const { served, workers, query } = machines;
    const { id } = await served.create({ input: "Begin", tools: [OWN], background: true });
    const waiting = "select 1 from offshoot.turns where queue = 'subagents 1' and not has_turn";
    const isPlaced = async (): Promise<boolean> => (await query(waiting)).length === CHILDREN;
    await untilTrue(isPlaced, "all subagents wait for a machine with room");
    served.command.child.kill("SIGKILL");
    const [parent = assert.fail()] = workers;
    const isTaken = async (): Promise<boolean> =>
      (await readOwners(machines)).root === parent.child.pid;
    await untilTrue(isTaken, "the worker has the parent");
    const others = [await machines.addWorker(30), await machines.addWorker(30)];
    await untilTrue(() => upstream.asked === CHILDREN, "all subagents work at once");
    const { root, children } = await readOwners(machines);
    assert.equal(root, parent.child.pid);
    assert.equal(sum([...children.values()]), CHILDREN);
    assert.deepEqual(new Set(children.keys()), new Set(others.map(({ child }) => child.pid)));
    await using another = await machines.serveAgain();
    const cancelled = await another.ask("POST", `/v1/responses/${id}/cancel`);
    assert.equal((cancelled.body as EmittedResponse).status, "cancelled");
    await checkCancelled(machines);
    upstream.gate.open();
  });

  it("spends at most what its key has, whichever machines its subagents run on", async () => {
    await using upstream = await startTree();
    upstream.gate.open();
    await using machines = await startMachines(upstream, { budget: BUDGET });
    const { served } = machines;
    const { id } = await served.create({ input: "Begin", tools: [OWN], background: true });
    const response = await until(async () => {
      const found = (await served.ask("GET", `/v1/responses/${id}`)).body as EmittedResponse;
      return found.status === "in_progress" || found.status === "queued" ? undefined : found;
    }, "the response has ended");
    const spent = await readSpent(machines);
    assert.equal(response.status, "incomplete", "the budget is too small for all of them");
    assert.equal(spent.root, upstream.requests.length * 110);
    assert.deepEqual([spent.booked, spent.held], [spent.root, 0]);
    assert.ok(spent.booked <= BUDGET, `${spent.booked} tokens`);
  });

  it("a tree continues when a worker is killed", async () => {
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

  it("has workers that report what they lack", async () => {
    await using place = await createPlace();
    const refused = await place.run(["worker", "--store", "postgres://nobody@127.0.0.1:1/none"]);
    assert.equal(refused.code, 1, refused.stderr);
    assert.match(refused.stderr, /^offshoot: [^\n]+\n$/);
  });
});
