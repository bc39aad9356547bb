/**
 * Random sequences of operations, on a store and on a model of it: both must answer the same,
 * failures included. The model is the shortest code that keeps the contract's promises.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { toFailure } from "../../src/base/failure.ts";
import type { Json } from "../../src/base/json.ts";
import type { Store } from "../../src/store/store.ts";
import { ended, newRun, notices } from "./store-contract.ts";

interface Operation {
  readonly kind: "create" | "claim" | "step" | "append" | "finish" | "put" | "take" | "delete";
  readonly run: number;
  /**
   * The difference to the present epoch or number: not 0 for the writes of a zombie, or of a
   * defect.
   */
  readonly offset: number;
  readonly size: number;
  readonly value: Json;
}

const operation: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constantFrom<Operation["kind"][]>(
    ...(["create", "claim", "claim", "step", "append", "append", "append"] as const),
    ...(["finish", "put", "take", "delete"] as const),
  ),
  run: fc.nat(1),
  offset: fc.constantFrom(0, 0, 0, 0, 1),
  size: fc.nat(5),
  value: fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json),
});

export function describeStoreModel(name: string, open: () => Promise<Store>): void {
  describe(`${name}: against a model`, () => {
    it("answers any sequence of operations as the model does", async () => {
      const store = await open();
      let round = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
          const prefix = `round_${round++}_`;
          const model = new Model();
          for (const next of operations) {
            const expected = model.apply(next);
            assert.equal(await apply(store, `${prefix}${next.run}`, { next, model }), expected);
          }
          for (const run of [0, 1]) await compare(store, `${prefix}${run}`, model.runs.get(run));
        }),
        { numRuns: 150 },
      );
      await store.close();
    });
  });
}

interface ModelRun {
  epoch: number;
  ended: boolean;
  events: number;
  steps: Map<string, Json>;
  signals: Map<string, Json>;
  taken: number;
}

class Model {
  readonly runs = new Map<number, ModelRun>();
  /** What the caller believes at the operation: read before it changes anything. */
  epoch = 0;
  next = 0;

  /** The answer as text: a value, or the code of the failure. */
  apply(operation: Operation): string {
    const { kind, run: index, offset } = operation;
    const run = this.runs.get(index);
    this.epoch = (run?.epoch ?? 0) - (kind === "finish" || kind === "step" ? offset : 0);
    this.next = (run?.events ?? 0) + (kind === "append" ? offset : 0);
    if (kind === "create") {
      if (!run) this.runs.set(index, emptyRun());
      return String(!run);
    }
    if (kind === "delete") {
      this.runs.delete(index);
      return "undefined";
    }
    if (run) return this.#change(run, operation);
    return kind === "claim" || kind === "put" ? "not_found" : "fenced";
  }

  #change(run: ModelRun, operation: Operation): string {
    const { kind, size, value } = operation;
    if (kind === "claim") return run.ended ? "undefined" : String(++run.epoch);
    if (kind === "put") {
      if (!run.signals.has(`${size}`)) run.signals.set(`${size}`, value);
      return "undefined";
    }
    if (this.epoch !== run.epoch) return "fenced";
    if (run.ended || this.next !== run.events) return "internal";
    return this.#write(run, operation);
  }

  #write(run: ModelRun, { kind, size, value }: Operation): string {
    if (kind === "step") {
      if (run.steps.has(`step:${size}`)) return "internal";
      run.steps.set(`step:${size}`, value);
    }
    if (kind === "append") run.events += size;
    if (kind === "finish") {
      run.events += 1;
      run.ended = true;
    }
    if (kind === "take") return JSON.stringify([...run.signals.values()][run.taken++]) ?? none(run);
    return "undefined";
  }
}

function none(run: ModelRun): string {
  run.taken--;
  return "undefined";
}

function emptyRun(): ModelRun {
  const steps = new Map<string, Json>();
  const signals = new Map<string, Json>();
  return { epoch: 0, ended: false, events: 0, steps, signals, taken: 0 };
}

async function apply(
  store: Store,
  id: string,
  { next: { kind, size, value }, model: { epoch, next } }: { next: Operation; model: Model },
): Promise<string> {
  const calls = {
    create: () => store.createRun(newRun(id)),
    claim: () => store.claim(id, "worker"),
    step: () => store.saveStep(id, epoch, { key: `step:${size}`, value }),
    append: () => store.append(id, epoch, next, notices(size, next)),
    finish: () => store.finish(id, epoch, ended(next)),
    put: () => store.putSignal(id, { topic: "t", key: `${size}`, body: value }),
    take: () => store.takeSignal(id, epoch, "t"),
    delete: () => store.deleteRun(id),
  };
  try {
    const answer: unknown = await calls[kind]();
    return kind === "take" ? (JSON.stringify(answer) ?? "undefined") : String(answer);
  } catch (thrown) {
    return toFailure(thrown).code;
  }
}

async function compare(store: Store, id: string, expected: ModelRun | undefined): Promise<void> {
  const run = await store.getRun(id);
  assert.equal(run === undefined, expected === undefined);
  if (!run || !expected) return;
  assert.deepEqual(
    [run.epoch, run.status === "ended", run.next_seq],
    [expected.epoch, expected.ended, expected.events],
  );
  const messages = (await store.readEvents(id, -1, 1000)).map(({ event }) => event);
  assert.deepEqual(messages, notices(expected.events));
  const steps = [...(await store.readSteps(id))].filter(([key]) => !key.startsWith("@"));
  assert.deepEqual(new Map(steps), expected.steps);
}
