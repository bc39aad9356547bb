/** The options of an editor's session: how much its model thinks. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ThinkingEffort } from "../../../src/agent/task.ts";
import {
  parseThinking,
  toFirstThinking,
  toOptions,
  toThinkingWish,
} from "../../../src/cli/acp/session-options.ts";

describe("thinking as an option of an editor's session", () => {
  it("has steps, of which the first is off", () => {
    const thinking = toOptions({ model: "m", mode: "ask", thinking: "low" }, []).at(-1);
    assert.ok(thinking?.type === "select");
    assert.equal(thinking.category, "thought_level");
    assert.equal(thinking.currentValue, "low");
    assert.deepEqual(
      thinking.options.map((one) => "value" in one && one.value),
      ["off", "low", "medium", "high", "max"],
    );
  });

  it("is taken as a step, or as on and off", () => {
    const rows = { low: "low", max: "max", on: "high", off: "off" };
    for (const [given, step] of Object.entries(rows)) assert.equal(parseThinking(given), step);
    assert.deepEqual([parseThinking(true), parseThinking(false)], ["high", "off"]);
    for (const wrong of ["most", "", 1, null]) {
      assert.throws(() => parseThinking(wrong), /one of: off, low, medium, high, max/);
    }
  });

  it("is at first as the settings say", () => {
    const first = (think: boolean, effort?: ThinkingEffort) => toFirstThinking({ think, effort });
    assert.deepEqual([first(false), first(true)], ["off", "high"]);
    assert.deepEqual([first(true, "minimal"), first(true, "xhigh")], ["low", "max"]);
    assert.equal(first(true, "medium"), "medium");
  });

  it("is asked of the model with its step", () => {
    assert.deepEqual(toThinkingWish("off"), { think: false });
    assert.deepEqual(toThinkingWish("max"), { think: true, effort: "max" });
  });
});
