import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toChatCompletion } from "../../../src/responses/chat/chat-completion.ts";
import { runEnd, runStart, turn } from "../logged-run.ts";
import { lastResponse, write } from "./written-events.ts";

describe("a thought whose server writes null where it has nothing", () => {
  const item = { type: "reasoning" as const, summary: [], content: null, status: null };
  const end = { type: "item_end" as const, index: 0, item };
  const events = write(
    runStart(),
    ...turn(1, { type: "item_start", index: 0, item }, end),
    runEnd(),
  );

  it("is shown without those fields", () => {
    const shown = [{ type: "reasoning", id: "rs_01_0", summary: [] }];
    assert.deepEqual(lastResponse(events).output, shown);
  });

  it("can be part of a chat completion", () => {
    assert.equal(toChatCompletion(lastResponse(events)).choices.length, 1);
  });
});
