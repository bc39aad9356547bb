import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item, Reasoning } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { seal } from "../../../src/protocol/sealed-reasoning.ts";
import { toUsage } from "../../../src/protocol/usage.ts";
import { toMessage } from "../../../src/responses/messages/message-object.ts";
import { toMessagesItems } from "../../../src/responses/messages/messages-items.ts";
import type { MessageParam } from "../../../src/responses/messages/messages-request.ts";
import { ANSWERS, call, eventsOf, other, whole } from "../chat/chat-runs.ts";
import { lastResponse, write } from "../fold/written-events.ts";
import { functionCall, message, runEnd, runFailure, runStart, turn } from "../logged-run.ts";
import { ANSWER, assemble, ESTIMATE, framesOf } from "./read-stream.ts";

/**
 * Chat has tools that take free text, and calls whose arguments are not an object; the Messages API has neither.
 */
const KNOWN = Object.entries(ANSWERS).filter(([name]) => !/^(a custom|two) call/.test(name));

const sealed = (text: string, encrypted_content: string): ModelEvent[] =>
  whole({
    type: "reasoning",
    summary: [],
    content: [{ type: "reasoning_text", text }],
    encrypted_content,
  });

function later(events: readonly ModelEvent[], by: number): ModelEvent[] {
  return events.map((event) => ("index" in event ? { ...event, index: event.index + by } : event));
}

describe("the frames of a Messages stream", () => {
  for (const [name, answer] of KNOWN) {
    it(`are in order and say what the whole message says: ${name}`, () => {
      const events = eventsOf(answer);
      const { content, end, start } = assemble(framesOf(events));
      const message = toMessage(lastResponse(events), ANSWER);
      const plain = message.content.map(({ citations, ...block }) =>
        citations ? { ...block, citations } : block,
      );
      assert.deepEqual(content, plain);
      assert.equal((end["delta"] as { stop_reason: string }).stop_reason, message.stop_reason);
      assert.deepEqual(end["usage"], message.usage);
      assert.equal(start["id"], message.id);
    });
  }

  it("begin with an estimate of the input, and end with what was counted", () => {
    const { start, end } = assemble(framesOf(eventsOf(message(0, "Hi"))));
    const [first, last] = [start["usage"], end["usage"]] as Record<string, number>[];
    assert.equal(first?.["input_tokens"], ESTIMATE);
    assert.deepEqual(
      [last?.["input_tokens"], last?.["cache_read_input_tokens"], last?.["output_tokens"]],
      [1000, 200, 34],
    );
  });

  it("end with the estimate where the vendor counted nothing", () => {
    const uncounted = {
      type: "end",
      reason: "stop",
      usage: toUsage({}),
      continuation: undefined,
    } as const;
    const events = write(
      runStart(),
      ...turn(1, ...message(0, "Hi"), uncounted),
      runEnd({ usage: toUsage({}) }),
    );
    const { end } = assemble(framesOf(events));
    assert.equal((end["usage"] as Record<string, number>)["input_tokens"], ESTIMATE);
  });

  it("keep a call back that begins while another is open", () => {
    const [oneStart, ...one] = functionCall(0, call, '{"a":', "1}");
    const [twoStart, ...two] = functionCall(1, other, '{"b":', "2}");
    assert.ok(oneStart && twoStart);
    const mixed = [oneStart, twoStart, two[0], one[0], two[1], one[1], two[2], one[2]];
    const { content } = assemble(framesOf(eventsOf(mixed as ModelEvent[])));
    assert.deepEqual(
      content.map(({ name, input }) => [name, input]),
      [
        ["read", { a: 1 }],
        ["find", { b: 2 }],
      ],
    );
  });

  it("give an empty input in a delta of its own", () => {
    const frames = framesOf(eventsOf(functionCall(0, call)));
    const deltas = frames.filter(({ type }) => type === "content_block_delta");
    assert.deepEqual(
      deltas.map(({ delta }) => delta),
      [{ type: "input_json_delta", partial_json: "{}" }],
    );
  });

  it("give a call another id than the conversation has", () => {
    const answer = { takenIds: new Set([call.call_id]) };
    const { content } = assemble(framesOf(eventsOf(functionCall(0, call, "{}")), answer));
    assert.equal(content[0]?.["id"], "call_1_2");
  });

  it("say nothing before there is output", () => {
    const [start] = write(runStart());
    assert.ok(start);
    assert.deepEqual(framesOf([start]), []);
  });

  it("end with one error where the response fails", () => {
    const events = write(runStart(), runFailure("The key was refused."));
    const frames = framesOf(events);
    assert.equal(frames.length, 1);
    assert.deepEqual(frames[0], {
      type: "error",
      error: { type: "api_error", message: "The key was refused." },
    });
  });
});

/** A client takes a block that has ended for whole: it keeps its text and runs its call. */
describe("a block that is cut in a Messages stream", () => {
  const TURN: RunEvent = { type: "turn_start", turn: 1, at_ms: 1 };
  const RESUME: RunEvent = { type: "run_resume", epoch: 2, at_ms: 2 };
  const half = (events: readonly ModelEvent[]) => events.slice(0, -1) as RunEvent[];
  const text = half(message(0, "Half"));
  const cutCall = half(functionCall(0, call, '{"path":"/tm'));
  const endingsOf = (...log: readonly RunEvent[]): string[] =>
    framesOf(write(runStart(), TURN, ...log))
      .map(({ type }) => type)
      .filter((type) => type !== "content_block_delta");

  for (const [name, cut] of Object.entries({ "a text": text, "a call": cutCall })) {
    it(`has no end where the answer fails: ${name}`, () => {
      const types = endingsOf(...cut, runFailure("The stream ended."));
      assert.deepEqual(types, ["message_start", "content_block_start", "error"]);
    });

    it(`has no end where the answer is cancelled: ${name}`, () => {
      const types = endingsOf(...cut, runEnd({ ending: "cancelled" }));
      assert.deepEqual(types, ["message_start", "content_block_start", "error"]);
    });
  }

  it("ends where the answer was as long as it may be", () => {
    const log = [runStart(), TURN, ...text, runEnd({ ending: "budget" })];
    const { content, end } = assemble(framesOf(write(...log)));
    assert.deepEqual(content, [{ type: "text", text: "Half" }]);
    assert.equal((end["delta"] as { stop_reason: string }).stop_reason, "max_tokens");
  });

  it("ends before the text that another process writes in its place", () => {
    const log = [runStart(), TURN, ...text, RESUME, ...turn(1, ...message(0, "Whole")), runEnd()];
    const { content } = assemble(framesOf(write(...log)));
    assert.deepEqual(content, [
      { type: "text", text: "Half" },
      { type: "text", text: "Whole" },
    ]);
  });

  it("ends the stream, if it is a call that another process makes again", () => {
    const again = turn(1, ...functionCall(0, call, '{"path":"/tmp/x"}'));
    for (const next of [again, []]) {
      const types = endingsOf(...cutCall, RESUME, ...next, runEnd());
      assert.deepEqual(types, ["message_start", "content_block_start", "error"]);
    }
  });

  it("ends when the next part of its message begins", () => {
    const item: Item = { type: "message", role: "assistant", content: [] };
    const said = (part: number, delta: string): RunEvent => {
      return { type: "text_delta", index: 0, part, delta };
    };
    const log = [{ type: "item_start", index: 0, item } as RunEvent, said(0, "A"), said(1, "B")];
    assert.deepEqual(endingsOf(...log), [
      ...["message_start", "content_block_start", "content_block_stop", "content_block_start"],
    ]);
  });
});

describe("the error of a Messages stream", () => {
  for (const [code, type] of [
    ["provider_overloaded", "overloaded_error"],
    ["provider_failed", "api_error"],
  ] as const) {
    it(`says whether asking again helps: ${code}`, () => {
      const end = runEnd({ ending: "failed", message: "No.", error: { code, message: "No." } });
      const frames = framesOf(write(runStart(), ...turn(1, ...message(0, "Yes")), end));
      assert.deepEqual(frames.at(-1), { type: "error", error: { type, message: "No." } });
    });
  }
});

describe("thinking in a Messages stream", () => {
  it("carries what the vendor needs back in its signature", () => {
    const { content } = assemble(framesOf(eventsOf(sealed("Hm", "gAAAA"))));
    const signature = "offshoot-c.gAAAA";
    assert.deepEqual(content, [{ type: "thinking", thinking: "Hm", signature }]);
  });

  it("gives Claude's own block as it was", () => {
    const own = { type: "thinking", thinking: "Hm", signature: "EqQB" };
    const { content } = assemble(framesOf(eventsOf(sealed("Hm", seal("messages", own)))));
    assert.deepEqual(content, [own]);
  });

  it("is announced without its text where the client wants none", () => {
    const { content } = assemble(framesOf(eventsOf(sealed("Hm", "x")), { thinking: "omitted" }));
    assert.deepEqual(content, [{ type: "thinking", thinking: "", signature: "offshoot-c.x" }]);
  });

  it("is not shown to a client that did not ask, except where a call needs it back", () => {
    const thought = sealed("Hm", "x");
    const hidden = { thinking: "hidden" as const };
    const said = assemble(framesOf(eventsOf([...thought, ...message(1, "Yes")]), hidden));
    assert.deepEqual(said.content, [{ type: "text", text: "Yes" }]);
    const events = eventsOf([...thought, ...later(functionCall(0, call, "{}"), 1)]);
    const { content } = assemble(framesOf(events, hidden));
    assert.deepEqual(content[0], { type: "redacted_thinking", data: "offshoot-c.x" });
    assert.equal(content[1]?.["type"], "tool_use");
    assert.deepEqual(
      toMessage(lastResponse(events), { ...ANSWER, ...hidden }).content.map(({ type }) => type),
      ["redacted_thinking", "tool_use"],
    );
  });

  const THOUGHT = sealed("Hm", "x");
  const AGAIN = sealed("So", "y");
  const CALL = functionCall(0, call, "{}");
  const HIDDEN: Readonly<Record<string, readonly (readonly ModelEvent[])[]>> = {
    "a thought, a text, a call": [THOUGHT, message(0, "Yes"), CALL],
    "a text, a thought, a call": [message(0, "Yes"), THOUGHT, CALL],
    "two thoughts around a text, a call": [THOUGHT, message(0, "Yes"), AGAIN, CALL],
    "a thought, a call, a thought, a text": [THOUGHT, CALL, AGAIN, message(0, "Yes")],
    "a thought, a text": [THOUGHT, message(0, "Yes")],
  };
  for (const [name, parts] of Object.entries(HIDDEN)) {
    it(`is the same streamed and whole to a client that did not ask: ${name}`, () => {
      const events = eventsOf(parts.flatMap((part, at) => later(part, at)));
      const answer = { thinking: "hidden" as const };
      const { content } = assemble(framesOf(events, answer));
      const whole = toMessage(lastResponse(events), { ...ANSWER, ...answer }).content;
      assert.deepEqual(
        content,
        whole.map(({ citations: _, ...block }) => block),
      );
      const thoughts = content.filter(({ type }) => type === "redacted_thinking").length;
      const call = parts.indexOf(CALL);
      const before = parts.slice(0, Math.max(0, call));
      assert.equal(thoughts, before.filter((part) => part === THOUGHT || part === AGAIN).length);
    });
  }

  it("comes back before the text that it was thought for", () => {
    const parts = [THOUGHT, message(0, "Yes"), CALL];
    const events = eventsOf(parts.flatMap((part, at) => later(part, at)));
    const { content } = assemble(framesOf(events, { thinking: "hidden" }));
    const messages = [{ role: "assistant" as const, content }] as unknown as MessageParam[];
    const { items } = toMessagesItems(messages, false);
    assert.deepEqual(
      items.map(({ type }) => type),
      ["reasoning", "message", "function_call"],
    );
    assert.equal((items[0] as Reasoning).encrypted_content, "x");
  });
});
