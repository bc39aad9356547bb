import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { createEventWriter } from "../../../src/responses/fold/event-writer.ts";
import { withoutWrittenDeltas } from "../../../src/responses/fold/written-deltas.ts";
import { answerStart, message, runEnd, runStart, turn } from "../logged-run.ts";

const delta = (index: number, text: string): RunEvent => ({
  type: "text_delta",
  index,
  part: 0,
  delta: text,
});
const start = (index: number): RunEvent => ({
  type: "item_start",
  index,
  item: { type: "message", role: "assistant", content: [] },
});
const end = (index: number, text: string): RunEvent => ({
  type: "item_end",
  index,
  item: { type: "message", role: "assistant", content: text },
});
const turnStart = (number: number): RunEvent => ({ type: "turn_start", turn: number, at_ms: 0 });
const deltasOf = (events: readonly RunEvent[]): string[] =>
  events.flatMap((event) => ("delta" in event ? [event.delta] : []));

describe("a log without the pieces of whole items", () => {
  const cases: readonly (readonly [string, readonly RunEvent[], readonly string[]])[] = [
    ["none of a whole item", [turnStart(1), start(0), delta(0, "a"), end(0, "a")], []],
    ["those of an item that did not end", [turnStart(1), start(0), delta(0, "a")], ["a"]],
    [
      "those of the open item alone, of two that came at the same time",
      [turnStart(1), start(0), start(1), delta(0, "a"), delta(1, "b"), end(0, "a")],
      ["b"],
    ],
    [
      "those of an attempt that a later one with the same index replaced",
      [turnStart(1), start(0), delta(0, "lost"), start(0), delta(0, "a"), end(0, "a")],
      ["lost"],
    ],
    [
      "those of a turn before one that has an item with the same index",
      [turnStart(1), start(0), delta(0, "lost"), turnStart(1), start(0), end(0, "a")],
      ["lost"],
    ],
    [
      "those of a turn before one whose item came whole, without a beginning",
      [turnStart(1), start(0), delta(0, "lost"), turnStart(1), end(0, "a")],
      ["lost"],
    ],
  ];
  for (const [what, log, left] of cases) {
    it(`has ${what}`, () => assert.deepEqual(deltasOf(withoutWrittenDeltas(log)), left));
  }

  it("keeps everything else, in its order, and makes the same response", () => {
    const log = [runStart(), ...turn(1, answerStart, ...message(0, "Hello to you.")), runEnd()];
    const kept = withoutWrittenDeltas(log);
    assert.deepEqual(
      kept,
      log.filter((event) => !("delta" in event)),
    );
    const responseOf = (events: readonly RunEvent[]) => {
      const writer = createEventWriter();
      for (const event of events) writer.write(event);
      return writer.response();
    };
    assert.deepEqual(responseOf(kept), responseOf(log));
  });
});
