/** Forms of single vendors that are not in the project's streams, for mutations alone. */

import type { StreamFolder, WireFolder } from "../streams.ts";

type Forms = Readonly<Record<string, readonly object[]>>;

const CHAT_STOP = {
  id: "c1",
  model: "m",
  choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
};

const chunk = (delta: object, more: object = {}): object => ({
  id: "c1",
  choices: [{ index: 0, delta, ...more }],
});

const TOKEN = {
  token: "Hi",
  logprob: -0.1,
  bytes: [72, 105],
  top_logprobs: [{ token: "Ho", logprob: -2, bytes: [72, 111] }],
};

const EXECUTED = [
  {
    index: 0,
    type: "search",
    arguments: '{"query":"tides"}',
    output: "Found.",
    search_results: { results: [{ url: "https://a.example", title: "A", score: 1 }] },
  },
  { index: 1, type: "python", arguments: '{"code":"print(4)"}', output: "4" },
];

const CITED = {
  type: "url_citation",
  url_citation: { url: "https://a.example", title: "A", start_index: 0, end_index: 2 },
};

const CHAT: Forms = {
  "tokens and their alternatives": [
    chunk({ content: "Hi" }, { logprobs: { content: [TOKEN] } }),
    CHAT_STOP,
  ],
  "tools that Groq ran": [
    chunk({ reasoning: "Look.", executed_tools: EXECUTED }),
    chunk({ content: "So." }),
    {
      ...CHAT_STOP,
      x_groq: { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
    },
  ],
  "pages that Perplexity read": [
    { ...chunk({ content: "So [1]." }), citations: ["https://a.example"] },
    { ...CHAT_STOP, search_results: [{ url: "https://a.example", title: "A" }] },
  ],
  "details that OpenRouter wants back": [
    chunk({
      reasoning: "Hm",
      reasoning_details: [{ type: "reasoning.text", index: 0, text: "Hm", signature: "s" }],
    }),
    chunk({ content: "So.", annotations: [CITED] }),
    {
      ...CHAT_STOP,
      usage: {
        prompt_tokens: 1,
        cost: 0.1,
        is_byok: true,
        cost_details: { upstream_inference_cost: 1 },
      },
    },
  ],
  "thoughts as Mistral sends them": [
    chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }] }] }),
    chunk({ content: [{ type: "text", text: "So." }] }),
    CHAT_STOP,
  ],
  "a call that Google signed": [
    chunk({
      tool_calls: [
        {
          index: 0,
          id: "c",
          function: { name: "f", arguments: "{}" },
          extra_content: { google: { thought_signature: "s" } },
        },
      ],
    }),
    { ...CHAT_STOP, choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  ],
  "everything in one piece": [
    {
      id: "c1",
      model: "m",
      citations: ["https://b.example"],
      choices: [
        {
          index: 0,
          message: {
            content: "Hi",
            reasoning: "Hm",
            annotations: [CITED],
            executed_tools: EXECUTED,
            tool_calls: [{ id: "c", function: { name: "f", arguments: "{}" } }],
          },
          logprobs: { content: [TOKEN] },
          finish_reason: "tool_calls",
        },
      ],
    },
  ],
};

const done = (output_index: number, item: object): object => ({
  type: "response.output_item.done",
  output_index,
  item,
});

const COMPLETED = {
  type: "response.completed",
  response: {
    id: "r1",
    status: "completed",
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      cost_in_usd_ticks: 5,
      server_side_tool_usage_details: { web_search_calls: 1 },
    },
  },
};

const RESPONSES: Forms = {
  "tokens and their alternatives": [
    { type: "response.created", response: { id: "r1", model: "m" } },
    {
      type: "response.output_text.delta",
      output_index: 0,
      content_index: 0,
      delta: "Hi",
      logprobs: [TOKEN],
    },
    done(0, {
      type: "message",
      id: "m1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hi", annotations: [], logprobs: [TOKEN] }],
    }),
    COMPLETED,
  ],
  "searches of every kind": [
    done(0, {
      type: "web_search_call",
      id: "ws",
      status: "completed",
      action: {
        type: "search",
        query: "tides",
        queries: ["tides"],
        sources: [{ type: "url", url: "https://a.example", title: "A" }],
      },
      results: [{ url: "https://a.example", title: "A", snippet: "Tides." }],
    }),
    done(1, {
      type: "file_search_call",
      id: "fs",
      status: "completed",
      queries: ["tides"],
      results: [{ file_id: "file-1", filename: "a.md", score: 1, text: "Tides.", attributes: {} }],
    }),
    // A search on X in xAI's form: a call of a tool that was not offered.
    done(2, {
      type: "custom_tool_call",
      id: "ctc",
      call_id: "xs",
      status: "completed",
      name: "x_keyword_search",
      input: '{"query":"tides"}',
    }),
    done(3, {
      type: "code_interpreter_call",
      id: "ci",
      status: "completed",
      container_id: "c",
      code: "print(4)",
      outputs: [{ type: "logs", logs: "4" }],
      files: [{ file_id: "file-2", path: "/mnt/data/a.csv" }],
    }),
    COMPLETED,
  ],
};

const MESSAGES: Forms = {
  "a search in one piece": [
    {
      type: "message",
      id: "msg_1",
      model: "m",
      stop_reason: "end_turn",
      content: [
        {
          type: "server_tool_use",
          id: "srvtoolu_1",
          name: "web_search",
          input: { query: "tides" },
          caller: { type: "direct" },
        },
        {
          type: "web_search_tool_result",
          tool_use_id: "srvtoolu_1",
          content: [{ type: "web_search_result", url: "https://a.example", title: "A" }],
        },
        { type: "thinking", thinking: "Hm.", signature: "s" },
        {
          type: "text",
          text: "So.",
          citations: [
            {
              type: "web_search_result_location",
              url: "https://a.example",
              title: "A",
              cited_text: "Tides.",
              encrypted_index: "e",
            },
          ],
        },
      ],
      usage: { input_tokens: 1, output_tokens: 1, server_tool_use: { web_search_requests: 1 } },
    },
  ],
};

const GEMINI: Forms = {
  "a prompt that a filter stopped": [
    { promptFeedback: { blockReason: "SAFETY", blockReasonMessage: "No." } },
  ],
  "an answer that continues": [
    {
      candidates: [
        {
          content: { parts: [{ text: "So" }] },
          finishReason: "CONTINUATION",
          continuationToken: "b24=",
        },
      ],
    },
  ],
  "a call of nothing, and sources of every kind": [
    {
      candidates: [
        {
          content: { parts: [{ functionCall: null, text: "Oh" }] },
          finishReason: "STOP",
          finishMessage: "Done.",
          citationMetadata: {
            citations: [{ startIndex: 0, endIndex: 2, uri: "https://a.example", title: "A" }],
          },
          groundingMetadata: {
            webSearchQueries: ["tides"],
            groundingChunks: [
              { retrievedContext: { uri: "https://b.example", title: "B" } },
              { maps: { uri: "https://c.example", title: "C" } },
            ],
          },
        },
      ],
    },
  ],
};

const OWN_CALL = {
  toolUseId: "s1",
  name: "nova_grounding",
  type: "server_tool_use",
  input: { query: "tides" },
};

const BEDROCK: Forms = {
  "an image in pieces": [
    { contentBlockStart: { contentBlockIndex: 0, start: { image: { format: "png" } } } },
    {
      contentBlockDelta: { contentBlockIndex: 0, delta: { image: { source: { bytes: "AAAA" } } } },
    },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { messageStop: { stopReason: "end_turn" } },
  ],
  "an exception after text": [
    { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "So" } } },
    { modelStreamErrorException: { message: "It broke", originalStatusCode: 500 } },
  ],
  "blocks of every kind in one piece": [
    {
      output: {
        message: {
          content: [
            { toolUse: OWN_CALL },
            { toolResult: { toolUseId: "s1", content: [{ text: "Found." }] } },
            { video: { format: "mp4", source: { bytes: "AAAA" } } },
            {
              citationsContent: {
                content: [{ text: "So." }],
                citations: [{ title: "A", location: { web: { url: "https://a.example" } } }],
              },
            },
          ],
        },
      },
      stopReason: "end_turn",
    },
  ],
};

const FORMS: Partial<Record<WireFolder, Forms>> = {
  chat: CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
  gemini: GEMINI,
  bedrock: BEDROCK,
};

export function withForms(wire: WireFolder, { streams, answers }: StreamFolder): StreamFolder {
  const more = Object.entries(FORMS[wire] ?? {}).map(([name, payloads]) => ({
    name,
    lines: payloads.map((payload) => JSON.stringify(payload)),
  }));
  return { streams: [...streams, ...more], answers };
}
