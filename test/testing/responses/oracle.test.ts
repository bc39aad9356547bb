/** The strict upstream's output against the API's published description. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply } from "../../../src/testing/reply.ts";
import { startResponsesUpstream } from "../../../src/testing/responses-upstream.ts";
import { script } from "../../../src/testing/script.ts";
import { checkPublished } from "../../conformance/check.ts";
import { eventsIn, type Loose, post } from "../post.ts";

/** If the description and the real service differ, the upstream does as the service does. */
function withoutKnownDifferences(event: Loose): Loose {
  if (event.type === "error") return { ...event, ...event.error, type: "error" };
  if (event.response?.usage !== null) return event;
  const { usage: _, ...response } = event.response;
  return { ...event, response };
}

describe("strict upstream against the published description", () => {
  const tools = [
    { type: "function", name: "read", parameters: { type: "object", properties: {} } },
  ];
  const text = {
    format: { type: "json_schema", name: "a", schema: { type: "object", properties: {} } },
  };
  const cases = {
    text: [reply.text("Hello, world!"), {}],
    "thinking and calls": [
      reply.reasoning("Hm.", reply.calls([{ name: "read", arguments: {} }], { text: "So." })),
      {
        tools,
        include: ["reasoning.encrypted_content"],
        reasoning: { effort: "low", summary: "auto" },
      },
    ],
    "a refusal": [reply.refusal("No."), { text, instructions: "Be brief.", store: false }],
    "a cut answer": [reply.length("Half a"), { max_output_tokens: 16, temperature: 0.5 }],
    "a failure": [reply.failure("broke", { text: "So" }), { metadata: { a: "b" } }],
    "the embedded model": [undefined, {}],
  } as const;
  for (const [name, [answer, more]] of Object.entries(cases)) {
    it(`emits valid events and responses: ${name}`, async () => {
      await using upstream = await startResponsesUpstream(answer ? { engine: script(answer) } : {});
      const body = { model: "m", input: "Hi", stream: true, ...more };
      const events = eventsIn((await post(`${upstream.url}/responses`, body)).text);
      assert.ok(events.length > 4);
      for (const sent of events) {
        const event = withoutKnownDifferences(sent);
        checkPublished("ResponseStreamEvent", event);
        if (event.response) checkPublished("Response", event.response);
      }
    });
  }
});
