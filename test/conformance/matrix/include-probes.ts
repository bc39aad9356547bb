/** What a client may ask to see: each is there on request, and only then. */

import type { JsonObject } from "../../../src/base/json.ts";
import type { EmittedResponse } from "../../../src/protocol/emitted.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { type Reply, reply } from "../../../src/testing/index.ts";
import { makeStore } from "../scenario-server.ts";
import { callOf, hasResult } from "../scripted-calls.ts";
import type { Probe, World } from "./probe.ts";
import { between } from "./words.ts";

const PICTURE = "data:image/png;base64,iVBORw0KGgo=";

const PAGE = { url: "https://one.example.org/", title: "One" };

/** The embedded model calls the named tool; a model without tools searches itself. */
const searching =
  (word: string) =>
  (request: ModelRequest): Reply => {
    if (hasResult(request)) return reply.text("Found.");
    if (request.tools.length === 0) {
      return reply.searched({ query: "colour", pages: [PAGE] }, "Found.");
    }
    return reply.calls([callOf(request, word, { query: "colour", queries: ["colour"] })]);
  };

const hosted = (type: string, isThere: (item: JsonObject) => boolean) => ({
  shown: ({ output }: EmittedResponse): boolean => {
    const items = output as unknown as readonly JsonObject[];
    return items.some((item) => item["type"] === type && isThere(item));
  },
});

/** Whether the request's own items show a field on request, and only then. */
const listed =
  (include: string, isThere: (text: string) => boolean) =>
  async ({ id }: EmittedResponse, { server }: World): Promise<boolean> => {
    const path = `/v1/responses/${id}/input_items`;
    const bare = JSON.stringify((await server.ask("GET", path)).body);
    const whole = JSON.stringify((await server.ask("GET", `${path}?include[]=${include}`)).body);
    return isThere(whole) && !isThere(bare);
  };

const hasPicture = (text: string): boolean => text.includes(PICTURE);

export const INCLUDE_PROBES: Readonly<Record<string, Probe>> = {
  "include (reasoning.encrypted_content)": {
    body: {
      reasoning: { effort: "high", summary: "detailed" },
      include: ["reasoning.encrypted_content"],
    },
    answer: () => reply.reasoning("Hm.", reply.text("Yes.")),
    name: /encrypted_content/,
    ...hosted("reasoning", (item) => typeof item["encrypted_content"] === "string"),
  },
  "include (message.output_text.logprobs)": {
    body: { include: ["message.output_text.logprobs"] },
    name: /logprobs/,
    sent: /logprobs/i,
  },
  "include (web_search_call.results)": {
    body: {
      input: "call web_search with query=colour",
      tools: [{ type: "web_search" }],
      include: ["web_search_call.results"],
    },
    answer: searching("web_search"),
    name: /web_search/,
    sent: /"type":"web_search"/,
    ...hosted("web_search_call", (item) => Array.isArray(item["results"])),
  },
  "include (web_search_call.action.sources)": {
    body: {
      input: "call web_search with query=colour",
      tools: [{ type: "web_search" }],
      include: ["web_search_call.action.sources"],
    },
    answer: searching("web_search"),
    name: /web_search/,
    sent: /"type":"web_search"/,
    ...hosted("web_search_call", ({ action }) =>
      Array.isArray((action as JsonObject | undefined)?.["sources"]),
    ),
  },
  "include (file_search_call.results)": {
    body: async ({ server }) => ({
      ...((await makeStore(server)) as JsonObject),
      input: "call file_search with queries=colour",
      include: ["file_search_call.results"],
    }),
    answer: searching("file_search"),
    name: /file_search/,
    ...hosted("file_search_call", (item) => Array.isArray(item["results"])),
  },
  "include (message.input_image.image_url)": {
    body: {
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "What is it?" },
            { type: "input_image", image_url: PICTURE },
          ],
        },
      ],
    },
    name: /message\.input_image/,
    shown: listed("message.input_image.image_url", hasPicture),
  },
  "include (computer_call_output.output.image_url)": {
    body: between(
      {
        type: "computer_call",
        id: "cu_1",
        call_id: "call_1",
        status: "completed",
        pending_safety_checks: [],
        action: { type: "screenshot" },
      },
      {
        type: "computer_call_output",
        call_id: "call_1",
        output: { type: "computer_screenshot", image_url: PICTURE },
      },
    ),
    name: /computer_call_output/,
    shown: listed("computer_call_output.output.image_url", hasPicture),
  },
};
