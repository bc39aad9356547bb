import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { makeStreamedCall } from "../../../src/responses/run/handed-calls.ts";
import { untilTrue } from "../../patience.ts";

type Batch = readonly ModelEvent[];

const ASKING = { request: {} as ModelRequest, run: "run_1", owner: "default" };

const text = (delta: string): Batch => [{ type: "text_delta", index: 0, part: 0, delta }];

const textOf = (batches: readonly Batch[]): string =>
  batches.flatMap((batch) => batch.map((one) => ("delta" in one ? one.delta : ""))).join("");

/** A model that sends batches until the limit; `read` counts those that were asked for. */
function startModel(batches: Iterable<Batch>, failure?: Failure) {
  const model = { read: 0, isLeft: false };
  async function* stream(): AsyncGenerator<Batch> {
    try {
      for (const batch of batches) {
        model.read++;
        yield batch;
      }
      if (failure) throw failure;
    } finally {
      model.isLeft = true;
    }
  }
  return { model, stream };
}

async function readAll(told: AsyncIterable<Batch>): Promise<Batch[]> {
  const all: Batch[] = [];
  for await (const batch of told) all.push(batch);
  return all;
}

describe("a streamed call that was made before its run", () => {
  it("is read ahead by a bounded amount, and passed on without a gap", async () => {
    const pieces = Array.from({ length: 400 }, (_, at) => text(`${at} `.padEnd(8192, ".")));
    const { model, stream } = startModel(pieces);
    const call = makeStreamedCall(stream, ASKING);
    await untilTrue(() => model.read > 30, "it is read ahead");
    for (let turns = 0; turns < 100; turns++) await Promise.resolve();
    assert.ok(model.read <= 33, `${model.read} of 400 batches were read ahead`);
    assert.equal(textOf(await readAll(call.tell())), textOf(pieces));
    assert.ok(model.isLeft);
  });

  it("is passed on without a gap, wherever its run takes it", async () => {
    const pieces = Array.from({ length: 9 }, (_, at) => text(`${at}`));
    for (let at = 0; at <= pieces.length; at++) {
      const { model, stream } = startModel(pieces);
      const call = makeStreamedCall(stream, ASKING);
      await untilTrue(() => model.read >= at, "so many batches");
      assert.equal(textOf(await readAll(call.tell())), "012345678", `taken at ${at}`);
    }
  });

  it("is a whole answer if it ends before a run takes it", async () => {
    const { stream } = startModel([text("a"), text("b")]);
    const { events } = await makeStreamedCall(stream, ASKING).answer;
    assert.equal(textOf([events]), "ab");
  });

  it("fails for the run that takes it as it failed before", async () => {
    const failure = new Failure("provider_overloaded", "Busy.");
    const { stream } = startModel([text("a")], failure);
    const call = makeStreamedCall(stream, ASKING);
    await assert.rejects(call.answer, failure);
    await assert.rejects(readAll(call.tell()), failure);
  });

  it("is ended when its run leaves it", async () => {
    const { model, stream } = startModel(Array.from({ length: 400 }, () => text("x".repeat(8192))));
    for await (const _ of makeStreamedCall(stream, ASKING).tell()) break;
    assert.ok(model.isLeft);
  });
});
