/** Teams as published: the description of their items and events, and the official client. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI from "openai";
import { reply } from "../../../src/testing/index.ts";
import { checkPublished } from "../../conformance/check.ts";
import { startServer } from "../../server/server-fixture.ts";
import { play, spawn, team, wait } from "../../server/team-fixture.ts";

const createScript = () =>
  play([reply.calls([spawn("a", "Go.")]), wait(), reply.text("Done.")], {
    "/root/a": reply.text("I went."),
  }).script;

describe("a team as it is published", () => {
  it("has items and events of the published form", async (t) => {
    const server = await startServer(t, createScript());
    const events = await server.stream({ input: "Go.", ...team });
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    for (const item of last.response.output) checkPublished("BetaOutputItem", item);
    for (const event of events) {
      if (!("response" in event)) checkPublished("BetaResponseStreamEvent", event);
    }
  });

  it("works with the official client, streamed and plain", async (t) => {
    const server = await startServer(t, createScript());
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
    const request = {
      model: "scripted",
      input: "Go.",
      multi_agent: { enabled: true, max_concurrent_subagents: 3 },
      betas: ["responses_multi_agent=v1" as const],
    };
    const stream = await client.beta.responses.create({ ...request, stream: true });
    const agents = new Map<string, string>();
    const said = new Map<string, string>();
    for await (const event of stream) {
      if (event.type === "response.output_item.added" && event.item.type === "message") {
        agents.set(event.item.id, event.item.agent?.agent_name ?? "");
      } else if (event.type === "response.output_text.delta") {
        const name = agents.get(event.item_id) ?? "";
        said.set(name, (said.get(name) ?? "") + event.delta);
      }
    }
    assert.deepEqual(Object.fromEntries(said), { "/root/a": "I went.", "/root": "Done." });

    const again = await startServer(t, createScript());
    const plain = new OpenAI({ baseURL: `${again.url}/v1`, apiKey: "none", maxRetries: 0 });
    const response = await plain.beta.responses.create(request);
    const answer = response.output
      .flatMap((item) =>
        item.type === "message" &&
        item.agent?.agent_name === "/root" &&
        item.phase === "final_answer"
          ? item.content
          : [],
      )
      .flatMap((part) => (part.type === "output_text" ? [part.text] : []));
    assert.deepEqual(answer, ["Done."]);
  });
});
