import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, type Json, tryParseJson } from "../../src/base/json.ts";
import { parseResponse, Response } from "../../src/protocol/response.ts";
import {
  parseResponseEvent,
  RESPONSE_EVENT_TYPES,
  ResponseEvent,
} from "../../src/protocol/response-events.ts";
import type { StreamFacts } from "../providers/responses/stream-facts.ts";
import type { StreamFolder } from "../providers/streams.ts";

/** Streams and answers of the Responses API parse, and come back as they were. */
export function describeParsedStreams(
  title: string,
  { streams, answers }: StreamFolder,
  { cutLines }: StreamFacts,
): void {
  describe(title, () => {
    for (const { name, lines } of streams) {
      it(`parse and come back as they were: ${name}`, () => {
        const events = lines.map(tryParseJson).filter((event) => event !== undefined);
        assert.equal(lines.length - events.length, cutLines[name] ?? 0, "lines that are not JSON");
        for (const event of events) {
          assert.deepEqual(ResponseEvent.parse(event), event);
          assert.equal(JSON.stringify(parseResponseEvent(event)), JSON.stringify(event));
          assert.ok(RESPONSE_EVENT_TYPES.includes(typeOf(event)), typeOf(event));
        }
      });
    }

    for (const { name, body } of answers) {
      const answer = JSON.parse(body) as Json;
      // The body of a refused request is an error and nothing else.
      if (isJsonObject(answer) && Object.keys(answer).join() === "error") continue;
      it(`parse and come back as they were: ${name}`, () => {
        assert.deepEqual(Response.parse(answer), answer);
        assert.equal(JSON.stringify(parseResponse(answer)), JSON.stringify(answer));
      });
    }
  });
}

function typeOf(event: Json): string {
  return isJsonObject(event) ? String(event["type"]) : "";
}
