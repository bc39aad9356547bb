import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CHARS_PER_TOKEN } from "../../../src/agent/context/token-estimate.ts";
import { NO_LIMITS } from "../../../src/agent/limits.ts";
import { Failure } from "../../../src/base/failure.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { RunCompaction, RunEnd, RunEvent } from "../../../src/protocol/run-events.ts";
import type { Usage } from "../../../src/protocol/usage.ts";
import { readAll, until } from "../../engine/engine-fixture.ts";
import { openLocalBench, openMemoryRecord, wrapStore } from "../../engine/local-fixture.ts";
import {
  createWorkingModel,
  TASK,
  toBody,
  type Work,
  type WorkingModel,
} from "./long-run-fixture.ts";

const RUN = { id: "run_1", title: "test" };
/** A few calls fill the window. */
const SMALL: Work = { window: 3000, contextTokens: 3000, calls: 20 };

interface Done {
  readonly end: RunEnd;
  readonly events: readonly RunEvent[];
  readonly compactions: readonly RunCompaction[];
  readonly model: WorkingModel;
}

async function run(work: Work): Promise<Done> {
  const bench = await openLocalBench(openMemoryRecord);
  const model = createWorkingModel(work);
  const engine = bench.engine();
  engine.define("agent", toBody(model, work));
  await engine.submit("agent", {}, RUN);
  const events = (await readAll(engine, RUN.id)).map(({ event }) => event);
  await bench.close();
  const end = events.at(-1);
  assert.ok(end?.type === "run_end", "the log ends with run_end");
  return { end, events, compactions: events.filter((event) => event.type === "compaction"), model };
}

function callsOf(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []));
}

function resultsOf(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.type === "function_call_output" ? [item.call_id] : []));
}

describe("a run that is longer than its model's window", () => {
  it("ends if it must not be compacted", async () => {
    const { end, compactions } = await run({ ...SMALL, task: { compact: "off" } });
    assert.deepEqual([end.ending, end.error?.code], ["failed", "context_exceeded"]);
    assert.equal(compactions.length, 0);
  });

  it("ends as before if its task names no mode, like one of an older version", async () => {
    const { end } = await run({ ...SMALL, task: { compact: undefined } });
    assert.equal(end.error?.code, "context_exceeded");
  });

  for (const isUncounted of [false, true]) {
    const who = isUncounted ? "by an estimate" : "by the vendor's count";
    it(`continues with its task, a summary and its last turns, ${who}`, async () => {
      const { end, compactions, model } = await run({ ...SMALL, isUncounted });
      assert.deepEqual([end.ending, end.output_text], ["completed", "done 20"]);
      assert.ok(compactions.length > 1, "it was compacted more than once");
      assert.equal(model.summaries.length, compactions.length);
      assert.equal(model.refused.length, 0, "nothing was sent that did not fit");
      for (const { items } of model.asked) {
        assert.deepEqual(items[0], TASK.items[0]);
        assert.deepEqual(callsOf(items), resultsOf(items));
      }
      const last = model.asked.at(-1)?.items ?? [];
      assert.match(JSON.stringify(last[1]), /Summary of the conversation so far.*MEMORY/);
      assert.equal(callsOf(last).at(-1), "call_20");
    });
  }

  it("summarises an earlier summary with what came since, and keeps one summary", async () => {
    const { model } = await run(SMALL);
    assert.match(JSON.stringify(model.summaries[1]?.items), /MEMORY 1/);
    const told = JSON.stringify(model.asked.at(-1)?.items).match(/MEMORY/g);
    assert.equal(told?.length, 1);
  });

  it("does not warn of a full window once it was compacted", async () => {
    const { events } = await run(SMALL);
    assert.deepEqual(
      events.filter(({ type }) => type === "notice"),
      [],
    );
  });

  it("counts the summaries in its usage and cost, and not among its turns", async () => {
    const costOf = ({ total_tokens }: Usage): number => total_tokens / 1000;
    const { end, events, compactions } = await run({ ...SMALL, costOf });
    const turns = events.filter((event) => event.type === "turn_end");
    const all = [...turns, ...compactions];
    assert.equal(end.turns, 21);
    assert.equal(
      end.usage.total_tokens,
      all.reduce((sum, { usage }) => sum + usage.total_tokens, 0),
    );
    const cost = all.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0);
    assert.ok(Math.abs((end.cost_usd ?? 0) - cost) < 1e-9);
    assert.ok(compactions.every(({ cost_usd }) => (cost_usd ?? 0) > 0));
    assert.equal(end.spent["tokens"], end.usage.total_tokens);
  });

  it("is not compacted after its last answer", async () => {
    const { end, compactions } = await run({ ...SMALL, calls: 4, answerTokens: 2000 });
    assert.equal(end.ending, "completed");
    assert.ok(end.usage.total_tokens > 3000);
    assert.equal(compactions.length, 0);
  });

  it("cuts results that are longer than the whole window, and asks no model for that", async () => {
    const { end, compactions, model } = await run({ ...SMALL, calls: 3, resultChars: 30_000 });
    assert.deepEqual([end.ending, end.output_text], ["completed", "done 3"]);
    assert.equal(compactions[0]?.summary, "");
    assert.match(JSON.stringify(model.asked[1]?.items), /result 1 x+.*characters …/);
    assert.equal(model.refused.length, 0);
  });

  it("reports the length before and after, once for each compaction", async () => {
    const { compactions, events } = await run(SMALL);
    for (const { tokens_before, tokens_after, items } of compactions) {
      assert.ok(tokens_before >= 3000 * 0.8 && tokens_before < 3500, `${tokens_before}`);
      assert.ok(tokens_after < tokens_before && items > 0);
    }
    for (const [at, event] of events.entries()) {
      if (event.type !== "compaction") continue;
      const next = events[at + 1];
      assert.ok(next?.type === "turn_start" && next.turn === event.turn);
    }
  });
});

function long(chars: number): Item {
  return { type: "message", role: "user", content: "y".repeat(chars) };
}

describe("a run on a model whose window is not known", () => {
  const UNKNOWN: Work = { ...SMALL, contextTokens: undefined };

  it("is compacted when the vendor refuses it, and asks again", async () => {
    const { end, compactions, events, model } = await run(UNKNOWN);
    assert.deepEqual([end.ending, end.output_text, end.turns], ["completed", "done 20", 21]);
    assert.ok(compactions.length > 0);
    const asked = model.refused.length - compactions.length;
    assert.equal(asked, 0, "one refusal for each");
    const ends = events.flatMap((event) => (event.type === "turn_end" ? [event.turn] : []));
    assert.deepEqual(
      ends,
      Array.from({ length: 21 }, (_, at) => at + 1),
    );
  });

  for (const share of [0.3, 0.45, 0.6]) {
    it(`is compacted each time, with instructions that take ${share} of the window`, async () => {
      const instructions = "y".repeat(Math.round(UNKNOWN.window * share * CHARS_PER_TOKEN));
      const work = { ...UNKNOWN, resultChars: 500, task: { instructions } };
      const { end, compactions, model } = await run(work);
      assert.deepEqual([end.ending, end.output_text], ["completed", "done 20"]);
      assert.ok(compactions.length > 1, "it was compacted more than once");
      assert.equal(model.refused.length, compactions.length, "one refusal for each");
    });
  }

  it("ends as before if the shorter conversation is refused too", async () => {
    const work = { ...UNKNOWN, window: 1000, resultChars: 100 };
    const model = createWorkingModel({ ...work, window: 100_000 });
    const stubborn: WorkingModel = {
      ...model,
      async *stream(request, call) {
        const isSecond = model.asked.length >= 8 && !request.instructions?.startsWith("You write");
        if (!isSecond) return yield* model.stream(request, call);
        model.refused.push(request);
        throw new Failure("context_exceeded", "Too long.");
      },
    };
    const bench = await openLocalBench(openMemoryRecord);
    const engine = bench.engine();
    engine.define("agent", toBody(stubborn, work));
    await engine.submit("agent", {}, RUN);
    const events = (await readAll(engine, RUN.id)).map(({ event }) => event);
    await bench.close();
    const end = events.at(-1);
    assert.ok(end?.type === "run_end");
    assert.deepEqual(
      [end.ending, end.error?.code, end.message],
      ["failed", "context_exceeded", "Too long."],
    );
    assert.equal(model.refused.length, 2, "asked again once");
    assert.equal(end.turns, 9);
  });

  it("ends as before if nothing can be left out", async () => {
    const { end, model } = await run({ ...UNKNOWN, task: { items: [long(12_000)] } });
    assert.deepEqual([end.ending, end.error?.code], ["failed", "context_exceeded"]);
    assert.equal(model.refused.length, 1);
  });
});

describe("a summary that cannot be made", () => {
  it("lets the run continue until its vendor refuses, and is tried a few times", async () => {
    const failure = new Failure("provider_failed", "Broken.");
    const { end, model } = await run({ ...SMALL, window: 4000, summary: () => failure });
    assert.equal(end.error?.code, "context_exceeded");
    assert.ok(model.summaries.length <= 3, `${model.summaries.length}`);
    const wide = await run({ ...SMALL, window: 100_000, summary: () => failure });
    assert.equal(wide.end.ending, "completed");
    assert.equal(wide.model.summaries.length, 3);
  });

  it("does not exceed the budget: the run ends at its limit", async () => {
    for (const usd of [0.5, 3, 6, 9, 12]) {
      const costOf = ({ total_tokens }: Usage): number => total_tokens / 1000;
      const limits = { ...NO_LIMITS, usd };
      const { end } = await run({ ...SMALL, costOf, task: { limits } });
      assert.equal(end.ending, "budget", `${usd}: ${end.message}`);
      // Exceeded by the error of one estimate at most, like every model call.
      assert.ok((end.cost_usd ?? 0) <= usd + 0.1, `${end.cost_usd} of ${usd}`);
    }
  });
});

describe("a long run that is killed", () => {
  for (const contextTokens of [3000, undefined]) {
    const known = contextTokens === undefined ? "unknown" : "known";
    it(`continues from each point with the same requests, with a window that is ${known}`, async () => {
      const work: Work = { ...SMALL, contextTokens, calls: 9 };
      const whole = await run(work);
      assert.ok(whole.compactions.length > 0);
      let points = 0;
      for (let at = 1; (await killAndResume(work, at, whole)) !== "ended"; at++) points++;
      assert.ok(points > 20, `${points} points`);
    });
  }
});

/** Kills the first owner after its write of this number. `ended` if it has fewer writes. */
async function killAndResume(work: Work, at: number, whole: Done): Promise<"ended" | "resumed"> {
  const bench = await openLocalBench(openMemoryRecord);
  const model = createWorkingModel(work);
  const worked: number[] = [];
  const body = toBody(model, work, (n) => worked.push(n));
  let writes = 0;
  let isDead = false;
  const store = wrapStore(bench.store, (name, call) => async (...values) => {
    const made = await call(...values);
    if (WRITES.has(name) && ++writes === at) {
      isDead = true;
      first.crash();
    }
    return made;
  });
  const first = bench.engine({ store });
  first.define("agent", body);
  await first.submit("agent", {}, RUN);
  await until(async () => isDead || (await bench.store.getRun(RUN.id))?.status === "ended");
  const isEnded = (await bench.store.getRun(RUN.id))?.status === "ended";
  if (!isEnded) {
    const second = bench.engine();
    second.define("agent", body);
    bench.clock.advance(60_000);
    await second.start();
    await second.result(RUN.id);
  }
  const log = (await bench.store.readEvents(RUN.id, -1, 100_000)).map(({ event }) => event);
  const end = log.at(-1);
  assert.ok(end?.type === "run_end");
  assert.deepEqual([end.ending, end.output_text, end.turns], ["completed", "done 9", 10], `${at}`);
  assert.equal(end.spent["turns"], whole.end.spent["turns"], "what the journal has is charged");
  const told = log.filter((event) => event.type === "compaction").map(({ summary }) => summary);
  assert.equal(told.length, whole.compactions.length, "each is told once");
  assert.ok(model.summaries.length <= told.length + 1, "only the one in flight is asked again");
  assert.deepEqual(new Set(worked).size, 9);
  assert.deepEqual(shapesOf(model), shapesOf(whole.model), `killed after write ${at}`);
  await bench.close();
  return isEnded && !isDead ? "ended" : "resumed";
}

const WRITES: ReadonlySet<string> = new Set(["append", "saveStep", "finish", "claim", "createRun"]);

/** The requests, each once, without the words of the summaries, which are numbered in the order of the requests. */
function shapesOf({ asked }: WorkingModel): string[] {
  return [
    ...new Set(
      asked.map(({ items }) =>
        JSON.stringify(items)
          .replace(/MEMORY \d+/g, "M")
          .replace(/"id":"[^"]*"/g, ""),
      ),
    ),
  ];
}
