import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { joinParts, splitParts, type ToldText, toChildPrompt } from "../../src/agent/told-parts.ts";

const PARTS: readonly ToldText[] = [
  { part: "base", source: "prompts/base.md", text: "Base." },
  { part: "delegation", source: "prompts/delegation.md", text: "Delegate." },
  { part: "place", source: "offshoot", text: "Here." },
  { part: "notes", source: "AGENTS.md", text: "Notes.", cut_bytes: 7 },
  { part: "notes", source: "a/AGENTS.md", text: "", refused: "is not text" },
  { part: "skills", source: "user", text: "Skills." },
  { part: "system", source: "--system", text: "System." },
];

describe("what a model is told", () => {
  it("is one text whose parts can be told apart", () => {
    const prompt = joinParts(PARTS);
    assert.equal(
      prompt.instructions,
      "Base.\n\nDelegate.\n\nHere.\n\nNotes.\n\nSkills.\n\nSystem.",
    );
    assert.deepEqual(splitParts(prompt), PARTS);
  });

  it("is empty if no part has words", () => {
    assert.deepEqual(joinParts([{ part: "system", source: "--system", text: "" }]), {
      instructions: null,
      told: [],
    });
  });
});

describe("the prompt of a child", () => {
  const parent = joinParts(PARTS);
  const kindsOf = (tools: readonly string[], mayDelegate = false): string[] => {
    const child = { tools, mayDelegate, instructions: "Look.", source: "its parent" };
    return splitParts(toChildPrompt(parent, child)).map(({ part, text }) => `${part} ${text}`);
  };
  const NOTES = ["place Here.", "notes Notes.", "notes "];

  it("has the place and the notes, and its own instructions", () => {
    assert.deepEqual(kindsOf([]), [...NOTES, "system Look."]);
  });

  it("says how to work if it has tools", () => {
    assert.deepEqual(kindsOf(["read"]), ["base Base.", ...NOTES, "system Look."]);
  });

  it("lists the skills if it has the tool, and says how to delegate if it may", () => {
    assert.deepEqual(kindsOf(["skill"], true), [
      ...["base Base.", "delegation Delegate.", ...NOTES],
      ...["skills Skills.", "system Look."],
    ]);
  });

  it("is what the call says, if the parent's prompt has no parts", () => {
    const child = { tools: ["read"], mayDelegate: false, instructions: "Look.", source: "x" };
    assert.deepEqual(toChildPrompt({ instructions: "Whole." }, child), {
      instructions: "Look.",
      told: undefined,
    });
  });
});
