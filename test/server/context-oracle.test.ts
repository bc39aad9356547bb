/** The answers of these routes, compared with the published description. */

import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import { checkPublished } from "../conformance/check.ts";
import { startServer } from "./server-fixture.ts";

describe("the answers about context against the published description", () => {
  it("are as it says", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.", { usage: { input: 5000, output: 1 } })),
    );
    const input = [
      { role: "user", content: "Hi" },
      { type: "function_call", call_id: "1", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "1", output: "x" },
      { type: "reasoning", summary: [] },
      { role: "assistant", content: "Yes" },
      { role: "developer", content: [{ type: "input_text", text: "Be kind." }] },
    ];
    const context_management = [{ type: "compaction", compact_threshold: 1000 }];
    const made = await server.create({ input, context_management });
    checkPublished("OutputItem", made.output.at(-1));
    const next = await server.create({ input: "On.", previous_response_id: made.id });
    for (const { id } of [made, next]) {
      const { body } = await server.ask("GET", `/v1/responses/${id}/input_items?limit=100`);
      checkPublished("ResponseItemList", body);
    }
    const compacted = await server.ask("POST", "/v1/responses/compact", { input, model: "m" });
    checkPublished("CompactResource", compacted.body);
    const counted = await server.ask("POST", "/v1/responses/input_tokens", { input });
    checkPublished("TokenCountsResource", counted.body);
    const opened = await server.ask("POST", "/v1/conversations", { items: input.slice(0, 3) });
    checkPublished("ConversationResource", opened.body);
    const { id } = opened.body as { id: string };
    await server.create({ input: "Hi", conversation: id, context_management });
    const listed = await server.ask("GET", `/v1/conversations/${id}/items`);
    checkPublished("ConversationItemList", listed.body);
  });
});
