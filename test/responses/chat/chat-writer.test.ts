import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedEvent } from "../../../src/protocol/emitted.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import type { RunEnd } from "../../../src/protocol/run-events.ts";
import type { ChatCompletion } from "../../../src/responses/chat/chat-completion.ts";
import { createChatWriter } from "../../../src/responses/chat/chat-writer.ts";
import { write } from "../fold/written-events.ts";
import {
  functionCall,
  message,
  runEnd,
  runFailure,
  runStart,
  toolRun,
  turn,
} from "../logged-run.ts";
import {
  ANSWERS,
  call,
  chunksOf,
  cited,
  deltasOf,
  eventsOf,
  framesOf,
  likelyEvents,
} from "./chat-runs.ts";

const role = (content: "" | null): object => ({ role: "assistant", content, refusal: null });
const think = (text: string): object => ({ reasoning_content: text, reasoning: text });
const cite = (at: number): object => ({
  annotations: [
    {
      type: "url_citation",
      url_citation: { url: "https://x.org", title: "X", start_index: at, end_index: at + 1 },
    },
  ],
});
const begun = (index: number, id: string, name: string): object => ({
  tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }],
});
const more = (index: number, text: string): object => ({
  tool_calls: [{ index, function: { arguments: text } }],
});

const DELTAS: Readonly<Record<string, readonly object[]>> = {
  "nothing at all": [role("")],
  text: [role(""), { content: "Hel" }, { content: "lo" }],
  "two messages": [role(""), { content: "One. " }, { content: "Two." }],
  "a summary of thinking": [role(""), think("Hm"), think("m"), { content: "A" }],
  "two pieces of thinking": [role(""), think("Hm"), think("\n\nAh"), { content: "A" }],
  "a refusal": [role(null), { refusal: "No." }],
  "two calls": [
    role(null),
    begun(0, "call_1", "read"),
    more(0, "{"),
    more(0, "}"),
    begun(1, "call_2", "find"),
    more(1, "["),
    more(1, "]"),
  ],
  "text and a call": [role(""), { content: "Look." }, begun(0, "call_1", "read"), more(0, "{}")],
  "a call without arguments": [role(null), begun(0, "call_1", "read"), more(0, "{}")],
  "a custom call": [
    role(null),
    { tool_calls: [{ index: 0, id: "c", type: "custom", custom: { name: "sql", input: "" } }] },
    { tool_calls: [{ index: 0, custom: { input: "sel" } }] },
    { tool_calls: [{ index: 0, custom: { input: "ect" } }] },
  ],
  "a search and citations": [role(""), { content: "Ah. " }, { content: "X" }, cite(4)],
  "an answer in one piece": [
    role(""),
    think("Hm"),
    { content: "Whole." },
    cite(0),
    begun(0, "call_1", "read"),
    more(0, "{}"),
  ],
  "a refusal in one piece": [role(""), think("Hm"), { refusal: "No." }],
  "a custom call in one piece": [
    role(null),
    { tool_calls: [{ index: 0, id: "c", type: "custom", custom: { name: "sql", input: "" } }] },
    { tool_calls: [{ index: 0, custom: { input: "select" } }] },
  ],
};

describe("the chunks of a chat stream", () => {
  for (const [name, answer] of Object.entries(ANSWERS)) {
    it(`say what the response says, and then {}: ${name}`, () => {
      assert.deepEqual(deltasOf(eventsOf(answer)), [...(DELTAS[name] ?? []), {}]);
    });
  }

  it("all carry the same head", () => {
    for (const chunk of chunksOf(eventsOf(message(0, "Hel", "lo")), { model: "fast" })) {
      const { choices: _, ...head } = chunk;
      assert.deepEqual(head, {
        id: "chatcmpl-01",
        object: "chat.completion.chunk",
        created: 1_700_000_000,
        model: "fast",
        service_tier: "default",
        system_fingerprint: null,
      });
    }
  });

  it("do not begin before there is output", () => {
    const events = eventsOf(message(0, "Hi"));
    const at = events.findIndex(({ type }) => type === "response.output_text.delta");
    assert.deepEqual(framesOf(events.slice(0, at)), []);
  });

  it("carry probabilities once, also those that come at the end alone", () => {
    const told = chunksOf(likelyEvents()).flatMap(({ choices: [choice] }) =>
      choice?.logprobs
        ? [[choice.delta.content, choice.logprobs.content.map((at) => at.token)]]
        : [],
    );
    assert.deepEqual(told, [
      ["Hel", ["Hel"]],
      ["", ["lo"]],
    ]);
  });

  it("repeat nothing if the end differs from the pieces", () => {
    const [start, delta] = message(0, "Hello");
    const item = { type: "message" as const, role: "assistant" as const, content: "Goodbye" };
    assert.ok(start && delta);
    const answer: ModelEvent[] = [start, delta, { type: "item_end", index: 0, item }];
    assert.deepEqual(deltasOf(eventsOf(answer)), [role(""), { content: "Hello" }, {}]);
  });

  it("do not make up the arguments of a call that was cut off", () => {
    const cut = turn(1, ...functionCall(0, call).slice(0, 1)).slice(0, -1);
    const events = write(runStart(), ...cut, runEnd({ ending: "timeout" }));
    assert.deepEqual(deltasOf(events), [role(null), begun(0, "call_1", "read"), {}]);
    const [made] = completionOf(events).choices[0]?.message.tool_calls ?? [];
    assert.ok(made?.type === "function");
    assert.equal(made.function.arguments, "");
  });

  it("leave out the words of the server's own tools", () => {
    const progress: ModelEvent = {
      type: "opaque",
      event: { type: "response.web_search_call.searching", output_index: 0, item_id: "ws_1" },
    };
    const [start, ...rest] = cited(0, "X");
    assert.ok(start);
    const text = deltasOf(eventsOf([start, progress, ...rest]));
    assert.deepEqual(text, [role(""), { content: "X" }, cite(0), {}]);
  });
});

describe("the end of a chat stream", () => {
  const cases: readonly [
    name: string,
    answer: readonly ModelEvent[],
    end: Partial<RunEnd>,
    reason: string,
  ][] = [
    ["an answer", message(0, "A"), {}, "stop"],
    ["a refusal", ANSWERS["a refusal"] ?? [], {}, "stop"],
    ["a call", functionCall(0, call, "{}"), {}, "tool_calls"],
    ["a custom call", ANSWERS["a custom call"] ?? [], {}, "tool_calls"],
    ["a limit", message(0, "A"), { ending: "max_turns" }, "length"],
    ["a call cut by a limit", functionCall(0, call, "{"), { ending: "budget" }, "length"],
    ["a filter", message(0, "A"), { ending: "refused" }, "content_filter"],
  ];
  for (const [name, answer, end, reason] of cases) {
    it(`gives its reason once, in the plain answer too: ${name}`, () => {
      const events = eventsOf(answer, end);
      const reasons = chunksOf(events).map(({ choices: [choice] }) => choice?.finish_reason);
      assert.deepEqual(reasons.filter(Boolean), [reason]);
      assert.equal(reasons.at(-1), reason);
      assert.equal(completionOf(events).choices[0]?.finish_reason, reason);
    });
  }

  it("does not ask the client for a result that the response has", () => {
    const events = write(
      runStart(),
      ...turn(1, ...functionCall(0, call, "{}")),
      ...toolRun(call, "1"),
      ...turn(2, ...message(0, "One.")),
      runEnd(),
    );
    assert.equal(chunksOf(events).at(-1)?.choices[0]?.finish_reason, "stop");
    assert.equal(completionOf(events).choices[0]?.message.tool_calls, undefined);
  });

  it("counts the tokens in a chunk of its own, where that was asked for", () => {
    const chunks = chunksOf(eventsOf(message(0, "A")), { includeUsage: true });
    const last = chunks.pop();
    assert.deepEqual(last?.choices, []);
    assert.deepEqual(last?.usage, {
      prompt_tokens: 1200,
      completion_tokens: 34,
      total_tokens: 1234,
      prompt_tokens_details: { cached_tokens: 200, cache_write_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 4,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    });
    for (const chunk of chunks) assert.equal(chunk.usage, null);
  });

  it("has no tokens unless they were requested", () => {
    for (const chunk of chunksOf(eventsOf(message(0, "A")))) assert.ok(!("usage" in chunk));
  });

  it("is one error where the response failed, and no reason", () => {
    const events = write(
      runStart(),
      ...turn(1, ...message(0, "A").slice(0, 2)).slice(0, -1),
      runFailure("It broke."),
    );
    const frames = framesOf(events, { includeUsage: true });
    const error = { message: "It broke.", type: "server_error", param: null, code: "server_error" };
    assert.deepEqual(JSON.parse(frames.at(-1) ?? ""), { error });
    assert.equal(frames.filter((frame) => frame.includes('"error"')).length, 1);
    assert.ok(!frames.some((frame) => frame.includes('"finish_reason":"')));
    const silent = events.filter(({ type }) => type !== "error");
    assert.deepEqual(JSON.parse(framesOf(silent).at(-1) ?? ""), { error });
  });

  it("is an error if another process has made the answer again after half of a call", () => {
    const events = write(
      runStart(),
      ...turn(1, ...functionCall(0, call, '{"path":"/tm').slice(0, 2)).slice(0, -1),
      { type: "run_resume", epoch: 2, at_ms: 2 },
      ...turn(1, ...functionCall(0, call, '{"path":"/tmp/x"}')),
      runEnd(),
    );
    const frames = framesOf(events);
    assert.match(frames.at(-1) ?? "", /A tool call was interrupted/);
    assert.ok(!frames.some((frame) => frame.includes('"finish_reason":"')));
  });

  it("is an error if the response was cancelled: half an answer is not an answer", () => {
    const last = framesOf(eventsOf(message(0, "A"), { ending: "cancelled" })).at(-1) ?? "";
    assert.deepEqual(JSON.parse(last), {
      error: {
        message: "The response was cancelled before it was complete.",
        type: "cancelled",
        param: null,
        code: "cancelled",
      },
    });
  });
});

describe("a chat stream in the older form", () => {
  const options = { calls: "function_call" as const };

  it("has one call, without an id", () => {
    assert.deepEqual(deltasOf(eventsOf(ANSWERS["two calls"] ?? []), options), [
      role(null),
      { function_call: { name: "read", arguments: "" } },
      { function_call: { arguments: "{" } },
      { function_call: { arguments: "}" } },
      {},
    ]);
  });

  it("ends with that word", () => {
    const events = eventsOf(functionCall(0, call, "{}"));
    assert.equal(chunksOf(events, options).at(-1)?.choices[0]?.finish_reason, "function_call");
  });
});

function completionOf(events: readonly EmittedEvent[]): ChatCompletion {
  const writer = createChatWriter({ model: "m", includeUsage: false });
  for (const event of events) writer.write(event);
  return writer.completion();
}
