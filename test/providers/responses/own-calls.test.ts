import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import type { Tool } from "../../../src/protocol/tools.ts";
import { createDecoder } from "../../../src/providers/responses/decode.ts";
import { encodeRequest } from "../../../src/providers/responses/encode.ts";
import { vendorOf } from "../../../src/providers/vendors/catalog.ts";
import { nativeRowOf } from "../../../src/providers/vendors/native-tools.ts";
import { request } from "../provider-contract.ts";

const QUIRKS = { ...vendorOf("xai").quirks, native: nativeRowOf("xai", "openai-responses") };
const tools = [{ type: "x_search" }, { type: "web_search", search_context_size: "low" }];

/** A search on X in xAI's form: a call of a free-text tool that was not offered, and that has ended. */
const SEARCH = {
  type: "custom_tool_call",
  id: "ctc_1",
  call_id: "xs_call_1",
  status: "completed",
  name: "x_keyword_search",
  input: '{"query":"colour"}',
};
const MESSAGE = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Blue.", annotations: [] }],
};

function read(): readonly ModelEvent[] {
  const out: ModelEvent[] = [];
  const decoder = createDecoder(request({ tools: tools as unknown as Tool[] }), QUIRKS);
  const details = { web_search_calls: 0, x_search_calls: 1, code_interpreter_calls: 0 };
  const usage = {
    input_tokens: 1,
    output_tokens: 1,
    server_side_tool_usage_details: details,
  };
  const added = (item: object, output_index: number): object[] => [
    { type: "response.output_item.added", output_index, item },
    { type: "response.output_item.done", output_index, item },
  ];
  const events = [
    { type: "response.created", response: { id: "resp_1" } },
    ...added(SEARCH, 0),
    { type: "response.custom_tool_call_input.delta", output_index: 0, delta: "{" },
    ...added(MESSAGE, 1),
    { type: "response.completed", response: { id: "resp_1", status: "completed", usage } },
  ];
  for (const event of events) decoder.read(JSON.stringify(event), out);
  decoder.end(out);
  return out;
}

describe("calls that xAI makes itself", () => {
  it("need no answer, are counted, and are sent back unchanged", () => {
    const events = read();
    const end = events.at(-1);
    assert.ok(end?.type === "end");
    assert.equal(end.reason, "stop");
    assert.deepEqual(end.usage.native_calls, { x_search: 1 });
    const items = events.flatMap((event) => (event.type === "item_end" ? [event.item] : []));
    assert.deepEqual(
      items.map(({ type }) => type),
      ["xai:custom_tool_call", "message"],
    );
    assert.ok(!events.some(({ type }) => type === "arguments_delta"));
    const body = encodeRequest(request({ items: items as Item[] }), QUIRKS);
    assert.deepEqual((body["input"] as readonly JsonObject[])[1], SEARCH);
  });

  it("are requested in its form, with the instructions as its first message", () => {
    const asked = request({ tools: tools as unknown as Tool[], instructions: "Be brief." });
    const body = encodeRequest(asked, QUIRKS);
    assert.deepEqual(body["tools"], [{ type: "x_search" }, { type: "web_search" }]);
    assert.equal(body["instructions"], undefined);
    const [first] = body["input"] as readonly JsonObject[];
    assert.deepEqual(first, {
      role: "system",
      content: [{ type: "input_text", text: "Be brief." }],
    });
  });
});
