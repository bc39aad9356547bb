import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { joinParts, type ToldText } from "../../../src/agent/told-parts.ts";
import { toContinuedPrompt } from "../../../src/runtime/prompt/go-on-prompt.ts";

const tell = (date: string, notes = "Notes.", system = "") => {
  const parts: ToldText[] = [
    { part: "base", source: "base", text: "Base." },
    { part: "place", source: "x", text: `Where you work:\n- Folder: /\n- Date: ${date}` },
    { part: "notes", source: "AGENTS.md", text: notes },
    { part: "system", source: "--system", text: system },
  ];
  return joinParts(parts);
};

describe("the prompt of a run that continues a session", () => {
  it("is word for word the prompt that the session began with", () => {
    const before = tell("2030-01-01");
    const same = toContinuedPrompt(before, tell("2030-01-01"));
    assert.deepEqual([same.instructions, same.note], [before.instructions, undefined]);
    assert.deepEqual(toContinuedPrompt(before, undefined), { ...before, note: undefined });
  });

  it("comes with a message that says what has changed since", () => {
    const before = tell("2030-01-01");
    const { instructions, note } = toContinuedPrompt(before, tell("2030-01-02", "Other notes."));
    assert.equal(instructions, before.instructions);
    assert.deepEqual(note, {
      type: "message",
      role: "user",
      content: "<changed_since>\n- Date: 2030-01-02\nOther notes.\n</changed_since>",
    });
  });

  it("is another one if the user says something else", () => {
    const now = tell("2030-01-02", "Notes.", "Be brief.");
    assert.deepEqual(toContinuedPrompt(tell("2030-01-01"), now), { ...now, note: undefined });
  });

  it("is the given text, if no parts are known", () => {
    const now = { instructions: "Whole." };
    assert.deepEqual(toContinuedPrompt(tell("2030-01-01"), now), { ...now, note: undefined });
  });
});
