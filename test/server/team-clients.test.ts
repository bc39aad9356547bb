/** Teams as published: the description of their items and events, and the official client. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import OpenAI from "openai";
import { reply } from "../../src/testing/index.ts";
import { readShared } from "../protocol/shared-files.ts";
import { startServer } from "./server-bench.ts";
import { play, spawn, team, wait } from "./team-bench.ts";

const createScript = () =>
  play([reply.calls([spawn("a", "Go.")]), wait(), reply.text("Done.")], {
    "/root/a": reply.text("I went."),
  }).script;

describe("a team as it is published", () => {
  it("has items and events of the published form", async (t) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(JSON.parse(readShared("oracles/openai.openapi.json")) as object, "oracle");
    const isItem = ajv.compile({ $ref: "oracle#/components/schemas/BetaOutputItem" });
    const isEvent = ajv.compile({ $ref: "oracle#/components/schemas/BetaResponseStreamEvent" });
    const server = await startServer(t, createScript());
    const events = await server.stream({ input: "Go.", ...team });
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    for (const item of last.response.output) {
      assert.ok(isItem(item), `${item.type}: ${ajv.errorsText(isItem.errors)}`);
    }
    for (const event of events) {
      if ("response" in event) continue;
      assert.ok(isEvent(event), `${event.type}: ${ajv.errorsText(isEvent.errors)}`);
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
