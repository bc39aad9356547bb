/** Recorded streams and answers of real servers parse, and come back as they were. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, type Json, tryParseJson } from "../../src/base/json.ts";
import { parseResponse, Response } from "../../src/protocol/response.ts";
import {
  parseResponseEvent,
  RESPONSE_EVENT_TYPES,
  ResponseEvent,
} from "../../src/protocol/response-events.ts";
import { listShared, readShared } from "./shared-files.ts";

const FOLDER = "recordings/responses/";
/** Two of its lines are cut short, as its maker left them. */
const CUT = "parallel-tool-call-wrapper.1.jsonl";
/** The body of a refused request; not a response. */
const REFUSED = "openai-error.1.json";

const names = listShared(FOLDER);
const streams = names.filter((name) => name.endsWith(".jsonl"));
const answers = names.filter((name) => name.endsWith(".json") && name !== REFUSED);

describe("recorded responses", () => {
  it("are all found", () => {
    assert.ok(streams.length >= 30, `only ${streams.length} streams`);
    assert.ok(answers.length >= 24, `only ${answers.length} answers`);
    assert.equal(streams.length + answers.length + 1, names.length);
  });

  for (const name of streams) {
    it(`reads ${name}`, () => {
      const lines = readShared(FOLDER + name)
        .split("\n")
        .filter(Boolean);
      const events = lines.map(tryParseJson).filter((event) => event !== undefined);
      assert.equal(lines.length - events.length, name === CUT ? 2 : 0, "lines that are no JSON");
      for (const event of events) {
        assert.deepEqual(ResponseEvent.parse(event), event);
        assert.equal(JSON.stringify(parseResponseEvent(event)), JSON.stringify(event));
        assert.ok(RESPONSE_EVENT_TYPES.includes(typeOf(event)), typeOf(event));
      }
    });
  }

  for (const name of answers) {
    it(`reads ${name}`, () => {
      const text = readShared(FOLDER + name);
      const answer = JSON.parse(text) as Json;
      assert.deepEqual(Response.parse(answer), answer);
      assert.equal(JSON.stringify(parseResponse(answer)), JSON.stringify(answer));
    });
  }
});

describe("response events", () => {
  it("reads an error in either shape", () => {
    const nested = { type: "error", error: { type: "t", code: "c", message: "m", param: null } };
    const flat = { type: "error", code: null, message: "m", param: null, sequence_number: 3 };
    assert.deepEqual(parseResponseEvent(nested), nested);
    assert.deepEqual(parseResponseEvent(flat), flat);
  });

  it("names the field of a known event that is wrong", () => {
    const event = { type: "response.output_text.delta", item_id: "m", content_index: 0, delta: 1 };
    assert.throws(() => parseResponseEvent(event), {
      code: "invalid_request",
      param: "delta",
      message: "`delta` must be a string, not 1.",
    });
  });
});

function typeOf(event: Json): string {
  return isJsonObject(event) ? String(event["type"]) : "";
}
