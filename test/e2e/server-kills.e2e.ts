/**
 * Responses in the background survive `kill -9` of their server at any moment: all finish, no event is lost
 * or repeated, and finished work is not repeated. Counted at the model's server, and in a file that the
 * server's own tool writes to.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { EmittedEvent, EmittedItem, EmittedResponse } from "../../src/protocol/emitted.ts";
import type { LoggedEvent } from "../../src/protocol/run-events.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { checkEvents } from "../conformance/check.ts";
import { createChance } from "../delegation/random-tree.ts";
import { until } from "../patience.ts";
import { createPlace, type Place } from "./command.ts";
import {
  createMortalServer,
  GO_ON,
  type Heard,
  hearOut,
  type MortalServer,
  readCalls,
  type SlowModel,
  startSlowModel,
  WORDS,
} from "./kill-fixture.ts";
import { countKills } from "./kills.ts";
import { readEvents } from "./served.ts";

/** Each kill comes at another moment, with several responses in flight. */
const KILLS = countKills(24);
const AT_ONCE = 4;
/** The most events that clients receive between two kills: some responses end meanwhile, most do not. */
const MOST_HEARD = 250;

it(`finishes responses whose server is killed ${KILLS} times`, async () => {
  const chance = createChance(60_406);
  await using place = await createPlace();
  await using model = await startSlowModel(chance);
  const server = createMortalServer(place, model);
  const crowd = createCrowd(server);
  const ledger = createLedger(place, model);
  for (let kills = 0; kills < KILLS; kills++) {
    const started = server.start();
    // One in eight dies while it starts.
    if (chance() < 1 / 8) await setTimeout(chance() * 300);
    else {
      await started;
      crowd.fill();
      await Promise.race([crowd.hears(chance() * MOST_HEARD), server.ended()]);
      // Between two events, too.
      await setTimeout(chance() * 10);
    }
    await server.kill();
    await ledger.check();
  }
  await server.start();
  const heard = await crowd.end();
  await until(async () => ((await ledger.unfinished()) === 0 ? true : undefined), "all have ended");
  await ledger.checkTotals(KILLS);
  await checkHeard(server, heard);
  await server.kill();
});

interface Crowd {
  /** Asks until that many are in flight. */
  fill(): void;
  /** Resolves when that many more events have arrived, or all of them. */
  hears(events: number): Promise<void>;
  /** Every response that a client knows about, followed to its end. */
  end(): Promise<Heard[]>;
}

function createCrowd(server: MortalServer): Crowd {
  const heard: Promise<Heard | undefined>[] = [];
  let open = 0;
  let waiting: { events: number; wake(): void } | undefined;
  const onHeard = (events: number): void => {
    if (!waiting) return;
    waiting.events -= events;
    if (waiting.events <= 0 || open === 0) waiting.wake();
  };
  return {
    hears: (events) =>
      new Promise((wake) => {
        waiting = { events, wake };
        onHeard(0);
      }),
    fill() {
      while (open < AT_ONCE) {
        open++;
        const streams = heard.length % 2 === 0;
        const one = hearOut(server, `job-${heard.length}`, { streams, onHeard });
        const left = (): void => {
          open--;
          onHeard(0);
        };
        heard.push(one.finally(left));
      }
    },
    end: async () => (await Promise.all(heard)).filter((one) => one !== undefined),
  };
}

interface Ledger {
  /**
   * Called when the server is dead: steps that it had begun must not have been finished before it was
   * started.
   */
  check(): Promise<void>;
  unfinished(): Promise<number>;
  checkTotals(kills: number): Promise<void>;
}

function createLedger(place: Place, { asked }: SlowModel): Ledger {
  const path = join(place.home, ".local", "share", "offshoot", "runs.db");
  let finished = new Set<string>();
  let seen = { asked: 0, calls: 0 };
  return {
    async check() {
      const calls = await readCalls(place);
      for (const key of [...asked.slice(seen.asked), ...calls.slice(seen.calls)]) {
        assert.ok(!finished.has(key), `${key} had finished and was done again`);
      }
      seen = { asked: asked.length, calls: calls.length };
      finished = await readFinished(path);
    },
    async unfinished() {
      const store = await openSqliteStore(path);
      const running = await store.listRuns({ limit: 1000, status: "running" });
      await store.close();
      return running.length;
    },
    async checkTotals(kills) {
      const calls = await readCalls(place);
      const done = [...asked, ...calls];
      const repeated = done.length - new Set(done).size;
      assert.ok(repeated <= kills * AT_ONCE, `${repeated} repeated by ${kills} kills`);
      const jobs = new Set(asked.map((key) => key.split(" ")[0]));
      assert.equal(new Set(calls).size, jobs.size * WORDS.length, "every call was made");
      assert.equal(new Set(asked).size, jobs.size * 3, "every turn was asked for");
    },
  };
}

/** The model calls and tool calls whose ends are in the logs. */
async function readFinished(path: string): Promise<Set<string>> {
  const store = await openSqliteStore(path);
  const finished = new Set<string>();
  for (const { id, title } of await store.listRuns({ limit: 1000 })) {
    const log = await store.readEvents(id, -1, 10_000);
    for (const key of toFinished(title, log)) finished.add(key);
  }
  await store.close();
  return finished;
}

function toFinished(label: string, log: readonly LoggedEvent[]): string[] {
  const words = new Map<string, string>();
  return log.flatMap(({ event }) => {
    if (event.type === "turn_end") return [`${label} model:${event.turn}`];
    if (event.type === "tool_start") {
      words.set(event.call_id, /tool:\w+/.exec(event.arguments)?.[0] ?? "");
    }
    return event.type === "tool_end" ? [`${label} ${words.get(event.call_id)}`] : [];
  });
}

async function checkHeard(server: MortalServer, heard: readonly Heard[]): Promise<void> {
  const url = await server.url();
  let cut = 0;
  let reconnected = 0;
  for (const { id, label, events, connections } of heard) {
    const path = `${url}/v1/responses/${id}`;
    const whole = readEvents(await (await fetch(`${path}?stream=true`)).text());
    assert.deepEqual(events, whole, `${label} over ${connections} connections`);
    checkEvents(whole, { takenOver: true });
    const response = (await (await fetch(path)).json()) as EmittedResponse;
    const last = whole.at(-1);
    assert.ok(last?.type === "response.completed", label);
    assert.deepEqual(response, last.response);
    checkOutput(label, response.output);
    const cutHere = whole.filter(isAbandoned).length;
    if (cutHere > 0) await checkGoesOn(url, id);
    cut += cutHere;
    if (connections > 1) reconnected++;
  }
  assert.ok(cut > KILLS / 4, `${cut} items were abandoned`);
  assert.ok(reconnected > heard.length / 2, `${reconnected} of ${heard.length} were cut`);
}

/** An interrupted response does not block its conversation. */
async function checkGoesOn(url: string, id: string): Promise<void> {
  const body = JSON.stringify({ input: GO_ON, previous_response_id: id, store: false });
  const answer = await fetch(`${url}/v1/responses`, { method: "POST", body });
  const { status, output_text } = (await answer.json()) as EmittedResponse;
  assert.deepEqual([answer.status, status, output_text], [200, "completed", "Yes."], id);
}

/** A stream that announced an item has its end, even if the item is not part of an answer. */
function isAbandoned(event: EmittedEvent): boolean {
  if (event.type !== "response.output_item.done") return false;
  return "status" in event.item && event.item.status === "incomplete";
}

/** Each item is there once and complete, whatever was abandoned on the way. */
function checkOutput(label: string, output: readonly EmittedItem[]): void {
  const statuses = output.flatMap((item) => ("status" in item ? [item.status] : []));
  assert.deepEqual([...new Set(statuses)], ["completed"], label);
  const calls = output.flatMap((item) => (item.type === "mcp_call" ? [item] : []));
  assert.deepEqual(
    calls.map(({ arguments: text }) => /tool:(\w+)/.exec(String(text))?.[1]),
    WORDS,
    label,
  );
  assert.equal(output.filter(({ type }) => type === "mcp_list_tools").length, 1, label);
  assert.equal(output.filter(({ type }) => type === "message").length, 3, label);
  const last = output.at(-1);
  assert.ok(last?.type === "message" && JSON.stringify(last).includes(`All of ${label} is`), label);
}
