/** Items that came without deltas, and probabilities of items that never ended. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { endOf, itemsOf } from "../streams.ts";
import { added, completed, created, decode, done, message } from "./wire-events.ts";

const logprobs = [{ token: "Hi", logprob: -1, bytes: [72, 105], top_logprobs: [] }];
const citation = {
  type: "url_citation",
  url: "https://x.org",
  title: "",
  start_index: 0,
  end_index: 2,
};
const text = { type: "output_text", text: "Hi", annotations: [citation], logprobs };
const said = { ...message, status: "completed", content: [text] };

const kindsOf = (events: readonly ModelEvent[]): string[] => events.map(({ type }) => type);

describe("an item that comes whole", () => {
  it("is emitted with deltas nevertheless", () => {
    const events = decode(created, done(0, said), completed());
    assert.deepEqual(events.slice(1, -1), [
      { type: "item_start", index: 0, item: message },
      { type: "text_delta", index: 0, part: 0, delta: "Hi", logprobs },
      { type: "annotation", index: 0, part: 0, annotation: citation },
      { type: "item_end", index: 0, item: said },
    ]);
  });

  it("may be any item of a whole answer", () => {
    const thought = {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "Short." }],
      content: [{ type: "reasoning_text", text: "Long." }],
      encrypted_content: "sealed",
    };
    const custom = {
      type: "custom_tool_call",
      id: "ctc_1",
      call_id: "c",
      name: "f",
      input: "words",
    };
    const call = {
      type: "function_call",
      id: "fc_1",
      call_id: "d",
      name: "g",
      arguments: '{"a":1}',
    };
    const search = { type: "web_search_call", id: "ws_1", status: "completed" };
    const output = [thought, search, said, custom, call];
    const events = decode({ id: "r1", object: "response", status: "completed", output });
    assert.deepEqual(itemsOf(events), output);
    const deltas = events.flatMap((event) => ("delta" in event ? [event.delta] : []));
    assert.deepEqual(deltas, ["Short.", "Long.", "Hi", "words", '{"a":1}']);
    const begun = events.flatMap((event) => (event.type === "item_start" ? [event.item] : []));
    assert.ok(!/Short|Long|Hi|words|"a\\"/.test(JSON.stringify(begun)), JSON.stringify(begun));
    assert.equal(endOf(events).reason, "tool_calls");
  });

  it("makes the answer a refusal if it is one", () => {
    const refusal = { ...message, content: [{ type: "refusal", refusal: "No." }] };
    const events = decode({ id: "r1", output: [refusal] });
    assert.deepEqual(kindsOf(events), ["start", "item_start", "refusal_delta", "item_end", "end"]);
    assert.equal(endOf(events).reason, "refusal");
  });
});

describe("probabilities", () => {
  it("are kept for a message that its server never ended", () => {
    const delta = { type: "response.output_text.delta", output_index: 0, content_index: 0 };
    const events = decode(
      created,
      added(0, message),
      { ...delta, delta: "Hi", logprobs },
      { ...delta, delta: "!", logprobs: [] },
      completed(),
    );
    const [item] = itemsOf(events);
    assert.deepEqual(item?.type === "message" && item.content, [
      { type: "output_text", text: "Hi!", annotations: [], logprobs },
    ]);
    assert.deepEqual(events[3], { type: "text_delta", index: 0, part: 0, delta: "!" });
  });
});
