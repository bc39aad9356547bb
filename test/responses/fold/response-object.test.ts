import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { EmittedItem } from "../../../src/protocol/emitted.ts";
import { ENDINGS, type RunEnd } from "../../../src/protocol/run-events.ts";
import {
  breakResponse,
  endResponse,
  toOutputText,
  toResponse,
  toResponseId,
  toRunId,
  toStatus,
} from "../../../src/responses/fold/response-object.ts";
import { runEnd, runStart } from "../logged-run.ts";

const text = (...words: string[]): EmittedItem =>
  ({
    type: "message",
    id: "m",
    role: "assistant",
    content: words.map((word) => ({ type: "output_text", text: word })),
  }) as EmittedItem;
const refusal: EmittedItem = {
  type: "message",
  id: "m",
  role: "assistant",
  content: [{ type: "refusal", refusal: "No." }],
} as unknown as EmittedItem;

describe("the status of a response", () => {
  const statuses: readonly (readonly [RunEnd["ending"], string, string | undefined])[] = [
    ["completed", "completed", undefined],
    ["cancelled", "cancelled", undefined],
    ["failed", "failed", undefined],
    ["refused", "incomplete", "content_filter"],
    ["max_turns", "incomplete", "max_output_tokens"],
    ["budget", "incomplete", "max_output_tokens"],
    ["timeout", "incomplete", "max_output_tokens"],
  ];
  for (const [ending, status, reason] of statuses) {
    it(`is ${status} for a run that ended as ${ending}`, () => {
      const made = toStatus(runEnd({ ending }), []);
      assert.equal(made.status, status);
      assert.equal(made.incomplete_details?.reason, reason);
    });
  }

  it("is known for every ending", () => {
    assert.deepEqual(statuses.map(([ending]) => ending).sort(), Object.keys(ENDINGS).sort());
  });

  it("is completed for a refusal that says so, and incomplete for one after other words", () => {
    const refused = runEnd({ ending: "refused" });
    assert.equal(toStatus(refused, [refusal]).status, "completed");
    assert.equal(toStatus(refused, [text("Well,"), refusal]).status, "incomplete");
    assert.equal(toStatus(refused, [text("Well,")]).status, "incomplete");
  });

  for (const [code, told] of [
    ["provider_overloaded", "rate_limit_exceeded"],
    ["provider_failed", "server_error"],
    ["tool_failed", "server_error"],
  ] as const) {
    it(`has the published code ${told} for ${code}`, () => {
      const error = { code, message: "Why.", param: null } as unknown as NonNullable<
        RunEnd["error"]
      >;
      const made = toStatus(runEnd({ ending: "failed", error }), []);
      assert.deepEqual(made.error, { code: told, message: "Why." });
    });
  }
});

describe("a response", () => {
  it("has its run's id under its own prefix, and back", () => {
    assert.equal(toResponseId("run_01k"), "resp_01k");
    assert.equal(toRunId("resp_01k"), "run_01k");
    assert.equal(toResponseId("01k"), "resp_01k");
  });

  it("has the times of its run in whole seconds, and an end only if it was completed", () => {
    const begun = toResponse(runStart());
    assert.equal(begun.created_at, 1_700_000_000);
    assert.equal(begun.completed_at, null);
    const at_ms = 1_700_000_009_999;
    assert.equal(endResponse(begun, runEnd({ at_ms }), []).completed_at, 1_700_000_009);
    const stopped = endResponse(begun, runEnd({ ending: "timeout", at_ms }), []);
    assert.equal(stopped.completed_at, null);
  });

  it("repeats the settings of a run that answers no request", () => {
    const response = toResponse(
      runStart({ model: "a/b", think: true, temperature: 0.5, max_output_tokens: 9 }),
    );
    const { model, reasoning_effort, temperature, max_output_tokens } = response;
    assert.deepEqual(
      { model, reasoning_effort, temperature, max_output_tokens },
      { model: "a/b", reasoning_effort: "high", temperature: 0.5, max_output_tokens: 9 },
    );
  });

  it("is not changed by its end, and shares no list with others", () => {
    const begun = toResponse(runStart());
    const output = [text("a")];
    const ended = endResponse(begun, runEnd(), output);
    output.push(text("b"));
    assert.deepEqual([begun.status, begun.output.length], ["in_progress", 0]);
    assert.deepEqual([ended.output.length, ended.output_text], [1, "a"]);
    assert.equal(toResponse(runStart()).output.length, 0);
  });

  it("that breaks keeps its output and says that it failed", () => {
    const begun = toResponse(runStart());
    const broken = breakResponse(begun, new Failure("provider_failed", "Gone."), [text("Half")]);
    assert.deepEqual(
      [broken.status, broken.error?.code, broken.output_text],
      ["failed", "server_error", "Half"],
    );
  });
});

describe("the text of a response", () => {
  it("is that of all its messages, in order", () => {
    const call = { type: "function_call", id: "f", call_id: "c", name: "f", arguments: "" };
    assert.equal(toOutputText([text("a", "b"), call as EmittedItem, text("c")]), "abc");
    assert.equal(toOutputText([refusal]), "");
  });

  it("is that of a team's first agent alone", () => {
    const by = (agent_name: string, word: string): EmittedItem =>
      ({ ...text(word), agent: { agent_name } }) as EmittedItem;
    assert.equal(toOutputText([by("/root", "a"), by("/root/research", "b"), text("c")]), "ac");
  });
});
