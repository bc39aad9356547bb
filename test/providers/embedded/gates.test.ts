/**
 * A script that asks for a decision as JSON: no words, no input and no schema make the embedded model
 * decide. If the user chose it, it returns what data states; otherwise it fills nothing.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { interpret, type Stance } from "../../../src/providers/embedded/interpret.ts";
import type { OutputFormat } from "../../../src/providers/provider.ts";
import { ask } from "./replies.ts";
import { object } from "./schemas.ts";

const DIFF = 'diff --git a/x b/x\n+{"approved": true}\n';
const YES = '{"approved": true}\n';
const INPUTS = [DIFF, YES, "approved: true\n", "approved,by\ntrue,Ada\n", undefined];

/** Requests for a judgement in various words, which no list of words would cover. */
const JUDGEMENTS: readonly string[] = [
  ...["Is it ok", "Is this ok?", "Gate: deploy or not", "gate: ship it or hold it"],
  ...["Deploy gate for this pull request: answer approved", "Approved or not", "Verdict: approved"],
  ...["Should it be approved?", "Ship it", "LGTM or not", "Go or no-go: this release"],
  ...["Answer approved: true or approved: false", "Judge this change", "Is this change safe"],
  ...["Put true in approved if this is fine", "Fill in approved after a review of this diff"],
  ...[
    "Take a decision: approve this or not",
    "Give your verdict as JSON",
    "Return approved as JSON",
  ],
  ...["Show me whether this is fine, as JSON", "Turn this into a decision", "Make the call"],
  ...["Convert this diff only if it is safe", "Extract whether this may be deployed"],
  ...[
    "Extract a judgement: is this safe?",
    "Parse this. Is it ok",
    "Read this as a reviewer would",
  ],
  ...[
    "Ist das in Ordnung",
    "Freigabe: ja oder nein",
    "Darf das ausgerollt werden",
    "Genehmigt: ja?",
  ],
  ...[
    "¿Está bien",
    "Est-ce sûr",
    "Décision : déployer ou non",
    "これは安全ですか",
    "これは安全ですか？",
  ],
  ...["部署：可以还是不可以", "Можно ли это выкатывать", "هل هذا آمن؟", "Está aprovado isto"],
  ...["The change is approved", "This was approved: deploy", "approved, is it", "approved = ?"],
];

const BOOLEAN = { approved: { type: "boolean" } };

/** A decision in every form that a schema may have for one. */
const GATES: Readonly<Record<string, JsonObject>> = {
  "a boolean": BOOLEAN,
  "an option": { approved: { enum: ["yes", "no", "true", true, false] } },
  "a constant": { approved: { const: true } },
  "a word": { approved: { type: "string" } },
  "a word by its pattern": {
    approved: { type: "string", pattern: "^(true|approved|yes|deploy)$" },
  },
  "a boolean or nothing": { approved: { type: ["boolean", "null"] } },
  "one of two": { approved: { oneOf: [{ const: true }, { const: false }] } },
  "something of any type": { approved: {} },
  "a list": { approved: { type: "array", items: { type: "boolean" }, minItems: 1 } },
  "a record": { result: object(BOOLEAN) },
};

const CHOSEN: Stance = {};
const UNCHOSEN: Stance = { isFallback: true };

/** Joined like by the command. */
function toText(prompt: string | undefined, piped: string | undefined): string {
  return [prompt, piped].filter((part) => part !== undefined).join("\n\n");
}

function assertShut(text: string, properties: JsonObject, stance: Stance): void {
  const schema = object(properties);
  const formats: OutputFormat[] = [{ type: "json_schema", name: "gate", schema, strict: true }];
  if (stance.isFallback) formats.push({ type: "json_object" });
  for (const format of formats) {
    const { text: said, refusal = "", calls, reason } = interpret(ask(text, { format }), stance);
    assert.deepEqual([said, calls, reason], [undefined, [], "refusal"], text);
    assert.equal(refusal.split("\n").length, 3, refusal);
  }
}

describe("a gate that asks the embedded model", () => {
  for (const prompt of JUDGEMENTS) {
    it(`stays shut for "${prompt}"`, () => {
      for (const piped of INPUTS) assertShut(toText(prompt, piped), BOOLEAN, CHOSEN);
    });
  }

  for (const [what, properties] of Object.entries(GATES)) {
    it(`stays shut if it wants ${what}`, () => {
      for (const prompt of ["Is it ok", "Gate: deploy or not", "approved or not", undefined]) {
        assertShut(toText(prompt, DIFF), properties, CHOSEN);
      }
    });
  }
});

describe("a gate that asks the embedded model as a fallback", () => {
  const harmless = ["city: Oslo", "Extract the decision", "compute 6*7", "list the files here"];
  for (const prompt of [...JUDGEMENTS, ...harmless, undefined]) {
    it(`stays shut for ${prompt === undefined ? "no prompt at all" : `"${prompt}"`}`, () => {
      for (const piped of INPUTS) assertShut(toText(prompt, piped) || "hello", BOOLEAN, UNCHOSEN);
    });
  }

  for (const [what, properties] of Object.entries(GATES)) {
    it(`stays shut if it wants ${what}`, () => assertShut(YES, properties, UNCHOSEN));
  }

  it("still gets an answer in words", () => {
    assert.equal(interpret(ask("compute 6*7"), UNCHOSEN).text, "6*7 = 42");
  });
});
