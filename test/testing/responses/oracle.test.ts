/** The strict upstream's output against the API's published description, which lies beside the checkout. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { reply } from "../../../src/testing/reply.ts";
import { startResponsesUpstream } from "../../../src/testing/responses-upstream.ts";
import { script } from "../../../src/testing/script.ts";
import { eventsIn, type Loose, post } from "../post.ts";

const ORACLE = "shared/oracles/openai.openapi.json";

/** Found from the working directory's parent or from here upwards, so that any build folder will do. */
function readOracle(): object {
  const starts = [process.cwd(), dirname(fileURLToPath(import.meta.url))];
  for (const start of starts) {
    for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
      const path = join(folder, ORACLE);
      if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8"));
    }
  }
  throw new Error(`${ORACLE} is not beside the checkout: these tests need it.`);
}

/** Where the description and the real service differ, the upstream does as the service does. */
function withoutKnownDifferences(event: Loose): Loose {
  if (event.type === "error") return { ...event, ...event.error, type: "error" };
  if (event.response?.usage !== null) return event;
  const { usage: _, ...response } = event.response;
  return { ...event, response };
}

describe("strict upstream against the published description", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(readOracle(), "oracle");
  const isEvent = ajv.compile({ $ref: "oracle#/components/schemas/ResponseStreamEvent" });
  const isResponse = ajv.compile({ $ref: "oracle#/components/schemas/Response" });

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
        assert.ok(isEvent(event), `${sent.type}: ${ajv.errorsText(isEvent.errors).slice(0, 400)}`);
        if (sent.response)
          assert.ok(
            isResponse(withoutKnownDifferences(sent).response),
            ajv.errorsText(isResponse.errors),
          );
      }
    });
  }
});
