/** What must be true at the end: for every response that a client knows about, and for the record. */

import assert from "node:assert/strict";
import { findAbandonedTurns } from "../../../src/agent/broken-answer.ts";
import type { EmittedResponse } from "../../../src/protocol/emitted.ts";
import type { LoggedEvent } from "../../../src/protocol/run-events.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import { checkEvents } from "../../conformance/check.ts";
import { untilTrue } from "../../patience.ts";
import { readEvents } from "../served.ts";
import { hasEnded } from "./chaos-client.ts";
import type { Load, Told } from "./chaos-load.ts";
import { CHILDREN, type Count, MARKS } from "./chaos-model.ts";
import type { Cluster } from "./cluster.ts";

/** All replicas report the same about it, from any event on, and so did the client's stream. */
export async function checkTold(
  cluster: Cluster,
  told: Told,
  chance: () => number,
): Promise<EmittedResponse> {
  const { id, label, kind, heard, ended } = told;
  const urls = cluster.replicas.map(({ url }) => url ?? assert.fail("a replica is down"));
  const [first = assert.fail(), ...others] = await Promise.all(
    urls.map((url) => read(cluster, url, `/v1/responses/${id}`)),
  );
  for (const other of others) assert.equal(other, first, label);
  const response = JSON.parse(first) as EmittedResponse;
  assert.ok(hasEnded(response), `${label} is ${response.status}`);
  if (ended) assert.deepEqual(ended, response, label);
  const streams = await Promise.all(
    urls.map((url) => read(cluster, url, `/v1/responses/${id}?stream=true`)),
  );
  for (const stream of streams) assert.equal(stream, streams[0], label);
  const [stream = ""] = streams;
  const events = readEvents(stream);
  checkEvents(events, { takenOver: true });
  if (heard) assert.deepEqual(heard, events, label);
  const after = Math.floor(chance() * events.length) - 1;
  const url = urls[Math.floor(chance() * urls.length)] ?? "";
  const resumed = `/v1/responses/${id}?stream=true&starting_after=${after}`;
  const rest = readEvents(await read(cluster, url, resumed));
  assert.deepEqual(rest, events.slice(after + 1), `${label} from ${after} on`);
  await checkAnswer(cluster, { label, kind }, response);
  return response;
}

async function checkAnswer(
  cluster: Cluster,
  { label, kind }: Pick<Told, "label" | "kind">,
  response: EmittedResponse,
): Promise<void> {
  const { status, output, output_text } = response;
  if (kind === "cancel") return void assert.match(status, /^(cancelled|completed)$/, label);
  const wanted = `All of ${label} is said, as it was asked for.`;
  if (status !== "completed" || !output_text.includes(wanted)) {
    assert.fail(`${label}: ${await tellLog(cluster, response)}`);
  }
  const calls = output.filter(({ type }) => type === "mcp_call").length;
  const made = { tools: Object.keys(MARKS).length, tree: CHILDREN }[kind as "tools" | "tree"];
  assert.equal(calls, made ?? 0, label);
}

/** Everything that is known about a response with a wrong answer. */
async function tellLog(cluster: Cluster, response: EmittedResponse): Promise<string> {
  const run = response.id.replace(/^resp_/, "run_");
  const events = `select seq, event from offshoot.run_events where run_id = '${run}' order by seq`;
  const steps = `select key, epoch, value from offshoot.steps where run_id = '${run}'`;
  const owner = `select r.epoch, r.owner, r.created_at_ms, r.ended_at_ms, w.pid from offshoot.runs as r
    left join offshoot.workers as w on w.id = r.owner where r.id = '${run}'`;
  const asked = [owner, events, steps].map((sql) => cluster.query(sql));
  const log = (await Promise.all(asked)).flat();
  return [response, ...log].map((one) => JSON.stringify(one)).join("\n");
}

async function read({ token }: Cluster, url: string, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}${path}`, { headers });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${path}: ${text}`);
  return text;
}

/** Each conversation has the answers that a client got, once and in their order. */
export async function checkConversations(cluster: Cluster, load: Load): Promise<void> {
  const [{ url } = assert.fail()] = cluster.replicas;
  for (const [id, labels] of load.conversations) {
    const text = await read(
      cluster,
      url ?? "",
      `/v1/conversations/${id}/items?order=asc&limit=100`,
    );
    const said = [...text.matchAll(/All of (\S+) is said/g)].map(([, label]) => label);
    assert.deepEqual(said, labels, id);
  }
}

/** Each query counts in one row what must not exist. */
const LEFT_OVER: Readonly<Record<string, string>> = {
  "runs that have not ended": "select id from offshoot.runs where status <> 'ended'",
  "runs without one ending": `select r.id from offshoot.runs as r
    where (select count(*) from offshoot.run_events as e
      where e.run_id = r.id and e.type = 'run_end') <> 1`,
  "events after the ending": `select r.id from offshoot.runs as r
    where not exists (select 1 from offshoot.run_events as e
      where e.run_id = r.id and e.type = 'run_end' and e.seq = r.next_seq - 1)`,
  // One that failed is made again for the same key.
  "runs that were made twice": `select title, array_agg(id || ' ' || created_at_ms || ' ' || ending)
    from offshoot.runs
    where parent_id is null and title ~ '^(conv|plain)-[0-9.]*[02468]$' and ending <> 'failed'
    group by title having count(*) > 1`,
  "runs of responses that cannot be found": `select r.id from offshoot.runs as r
    where r.parent_id is null and r.name = 'response' and not exists (select 1 from offshoot.things as t
      where t.kind = 'response' and t.id = 'resp_' || substr(r.id, 5))`,
  "turns of ended runs": "select run_id from offshoot.turns",
  "money that ended runs hold": `select h.id from offshoot.holds as h
    join offshoot.runs as r on r.id = h.id`,
  "messages that no run took": `select s.id from offshoot.signals as s
    left join offshoot.runs as r on r.id = s.run_id where r.id is null`,
  "parts that nothing refers to": `select p.id from offshoot.parts as p
    where not exists (select 1 from offshoot.runs as r where r.id = p.run_id
        and p.id in (r.input_parts, r.result_parts))
      and not exists (select 1 from offshoot.steps as s where s.run_id = p.run_id and s.value_parts = p.id)
      and not exists (select 1 from offshoot.events as e where e.run_id = p.run_id and e.body_parts = p.id)`,
  "bytes that are counted wrongly": `select tenant from (
      select tenant, sum(bytes) as counted,
        (select coalesce(sum(octet_length(body) + content_bytes), 0) from offshoot.things as t
          where t.tenant = s.tenant)
        + (select coalesce(sum(bytes), 0) from offshoot.runs as r where r.tenant = s.tenant) as real
      from offshoot.storage as s group by tenant) as sums where counted <> real`,
};

export async function checkRecord(cluster: Cluster): Promise<void> {
  for (const [what, sql] of Object.entries(LEFT_OVER)) {
    assert.deepEqual(await cluster.query(sql), [], what);
  }
  const kept = await openKept(cluster.address);
  try {
    assert.deepEqual((await kept.maintenance.check()).problems, []);
  } finally {
    await kept.close();
  }
}

/**
 * A process returns the budget that it reserved for a response and never recorded. If it died, the first
 * sweep after a while does. Here that while is over at once.
 */
export async function checkForgottenHolds(cluster: Cluster): Promise<void> {
  await cluster.query("update offshoot.holds set beat_at_ms = 0");
  const [replica = assert.fail()] = cluster.replicas;
  await replica.kill();
  await replica.ready();
  const left = "select id from offshoot.holds";
  const isEmpty = async (): Promise<boolean> => (await cluster.query(left)).length === 0;
  await untilTrue(isEmpty, "unused reservations are returned");
}

/** The endings of responses: what each took from the budget, with all below it. */
const SPENT = `select r.id, r.title, r.ending, (e.event -> 'spent' ->> 'tokens')::bigint as spent
  from offshoot.runs as r join offshoot.run_events as e on e.run_id = r.id and e.type = 'run_end'
  where r.parent_id is null`;

/**
 * What the key was charged is what the endings of its responses say, each once: also of those that no client was told
 * of. And it is what the responses themselves tell as their usage. A response pays for model calls that broke off in a
 * takeover, too, its own and those of its subagents: only then is it charged with more than its usage.
 */
export async function checkMoney(cluster: Cluster): Promise<number> {
  const [{ url } = assert.fail()] = cluster.replicas;
  let tokens = 0;
  const wrong: string[] = [];
  for (const { id, title, ending, spent } of await cluster.query(SPENT)) {
    const path = `/v1/responses/${String(id).replace(/^run_/, "resp_")}`;
    const { usage } = JSON.parse(await read(cluster, url ?? "", path)) as EmittedResponse;
    const told = usage?.total_tokens ?? 0;
    const taken = Number(spent ?? 0);
    tokens += taken;
    if (told === taken) continue;
    const broken = await countBroken(cluster, String(id));
    const isPaid = broken > 0 && told < taken && taken <= told + broken * MOST_BROKEN_TOKENS;
    if (isPaid) continue;
    const what = `usage ${told}, charged ${taken}, ${broken} broken`;
    wrong.push(`${title} (${ending}): ${what}\n${await tellTree(cluster, String(id))}`);
  }
  const sql = `select tokens from offshoot.spending where "window" = 'total'`;
  const booked = (await cluster.query(sql)).map((row) => Number(row["tokens"]));
  assert.deepEqual({ booked, wrong }, { booked: [tokens], wrong: [] });
  return tokens;
}

/** More than any call of the test is estimated to use: its input has the descriptions of the tools that were offered. */
const MOST_BROKEN_TOKENS = 2000;

/** What each run of a tree says of itself, and its events without what was said. */
async function tellTree(cluster: Cluster, root: string): Promise<string> {
  const sql = `select r.id, r.epoch, r.ending, r.created_at_ms, r.ended_at_ms,
      string_agg(e.seq || ':' || e.type, ' ' order by e.seq) filter (where e.type !~ 'delta') as log,
      max((e.event -> 'spent')::text) as spent
    from offshoot.runs as r join offshoot.run_events as e on e.run_id = r.id
    where r.id = '${root}' or r.id like '${root}/%' group by r.id order by r.id`;
  const steps = `select run_id, key, epoch, value from offshoot.steps
    where run_id = '${root}' and key ~ '^tool' order by key`;
  const rows = [...(await cluster.query(sql)), ...(await cluster.query(steps))];
  return rows.map((row) => JSON.stringify(row)).join("\n");
}

/** How many model calls of a run and of those below it had said something when a takeover broke them off. */
async function countBroken(cluster: Cluster, root: string): Promise<number> {
  const ids = `select id from offshoot.runs where id = '${root}' or id like '${root}/%'`;
  let count = 0;
  for (const { id } of await cluster.query(ids)) {
    const sql = `select seq, event from offshoot.run_events where run_id = '${String(id)}' order by seq`;
    const log = (await cluster.query(sql)) as unknown as LoggedEvent[];
    for (const attempts of findAbandonedTurns(log).values()) count += attempts.length;
  }
  return count;
}

/** A step that was begun and not finished may be asked for again: once for each time that its run was taken over. */
export function checkCounts(count: Count): { readonly steps: number; readonly again: number } {
  assert.deepEqual(count.repeated, [], "finished steps were repeated");
  let again = 0;
  for (const times of count.times.values()) again += times - 1;
  return { steps: count.times.size, again };
}

/** Removes everything that clients can remove, and checks that nothing is left. */
export async function removeAll(cluster: Cluster): Promise<void> {
  const headers = { authorization: `Bearer ${cluster.token}` };
  const remove = async (path: string): Promise<void> => {
    const answer = await fetch(`${cluster.url}${path}`, { method: "DELETE", headers });
    assert.equal(answer.status, 200, `${path}: ${await answer.text()}`);
  };
  for (const kind of ["response", "conversation"]) {
    const things = await cluster.query(`select id from offshoot.things where kind = '${kind}'`);
    for (const { id } of things) await remove(`/v1/${kind}s/${String(id)}`);
  }
  const tables = ["runs", "steps", "events", "signals", "parts", "turns", "holds", "contents"];
  for (const table of tables) {
    assert.deepEqual(await cluster.query(`select * from offshoot.${table} limit 1`), [], table);
  }
  const left = "select distinct kind from offshoot.things order by kind";
  const kinds = (await cluster.query(left)).map(({ kind }) => kind);
  assert.deepEqual(
    kinds.filter((kind) => !/^(key|done|seal|idempotency.*)$/.test(String(kind))),
    [],
  );
}
