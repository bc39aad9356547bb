/** The forms of standard output, to the byte: SSE over every wire, and the two JSON forms. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LoggedEvent, RunEvent } from "../../src/protocol/run-events.ts";
import { type Reply, reply, script } from "../../src/testing/index.ts";
import { createPlace } from "./command.ts";
import { CHAT, RESPONSES, runAt, WIRES } from "./wires.ts";

const FILES = { "a.txt": "hello\n", "capital.json": '{"type":"object"}' };
const whole = { pieceLength: 1000 };
const readA = reply.calls([{ name: "read", arguments: { path: "a.txt" } }], whole);

/** `ID` stands for the server's own id of its answer, which is new each time on chat. */
const SSE_CASES: readonly {
  readonly name: string;
  readonly replies: readonly Reply[];
  readonly args: readonly string[];
  readonly code: number;
  readonly stdout: string;
}[] = [
  {
    name: "text",
    replies: [reply.text("Hello there")],
    args: [],
    code: 0,
    stdout: `event: response_start
data: {"id":"ID","delta":"","type":"response_start"}

event: output_text
data: {"id":"","delta":"Hello t","type":"output_text"}

event: output_text
data: {"id":"","delta":"here","type":"output_text"}

event: block_end
data: {"id":"","delta":"","type":"block_end"}

event: response_end
data: {"id":"","delta":"","type":"response_end"}

`,
  },
  {
    name: "reasoning",
    replies: [reply.reasoning("Let me think", reply.text('Yes\n"é"', whole))],
    args: ["--think"],
    code: 0,
    stdout: `event: response_start
data: {"id":"ID","delta":"","type":"response_start"}

event: reasoning_content
data: {"id":"","delta":"Let me think","type":"reasoning_content"}

event: output_text
data: {"id":"","delta":"Yes\\n\\"é\\"","type":"output_text"}

event: block_end
data: {"id":"","delta":"","type":"block_end"}

event: response_end
data: {"id":"","delta":"","type":"response_end"}

`,
  },
  {
    name: "a tool call and its result",
    replies: [readA, reply.text("Done", whole)],
    args: [],
    code: 0,
    stdout: `event: response_start
data: {"id":"ID","delta":"","type":"response_start"}

event: tool_call
data: {"id":"call_1","delta":"","type":"tool_call","name":"read"}

event: tool_call
data: {"id":"call_1","delta":"{\\"path\\":\\"a.txt\\"}","type":"tool_call"}

event: block_end
data: {"id":"","delta":"","type":"block_end"}

event: tool_result
data: {"id":"call_1","delta":"\\n\\nTool Result (read):\\n   1 | hello\\n","type":"tool_result"}

event: response_start
data: {"id":"ID","delta":"","type":"response_start"}

event: output_text
data: {"id":"","delta":"Done","type":"output_text"}

event: block_end
data: {"id":"","delta":"","type":"block_end"}

event: response_end
data: {"id":"","delta":"","type":"response_end"}

`,
  },
  {
    name: "a structured output",
    replies: [reply.text('{"capital": "Paris", "country": "France"}')],
    args: ["--schema", "capital.json"],
    code: 0,
    stdout: `event: response_start
data: {"id":"ID","delta":"","type":"response_start"}

event: output_structured
data: {"id":"","delta":"{\\"capital\\":\\"Paris\\",\\"country\\":\\"France\\"}","type":"output_structured"}

event: response_end
data: {"id":"","delta":"","type":"response_end"}

`,
  },
  {
    name: "a failure in the middle",
    replies: [reply.failure("It broke.", { text: "Half", ...whole })],
    args: [],
    code: 1,
    stdout: `event: response_start
data: {"id":"ID","delta":"","type":"response_start"}

event: output_text
data: {"id":"","delta":"Half","type":"output_text"}

event: block_end
data: {"id":"","delta":"Error: The model's server failed in the middle of its answer: It broke.","type":"block_end"}

`,
  },
  {
    name: "a failure before anything",
    replies: [reply.status(400, { error: { message: "No such model." } })],
    args: [],
    code: 1,
    stdout: `event: block_end
data: {"id":"","delta":"Error: custom answered 400: No such model.","type":"block_end"}

`,
  },
];

describe("the SSE form", { concurrency: 3 }, () => {
  for (const { name, replies, args, code, stdout } of SSE_CASES) {
    for (const wire of WIRES) {
      it(`is that of seed 000 for ${name}, over ${wire.name}`, async () => {
        await using place = await createPlace(FILES);
        const engine = script(...replies);
        await using upstream = await wire.start({ engine });
        const ended = await place.run(runAt(upstream, wire, "--sse", ...args, "Hi"));
        assert.equal(ended.stdout.replaceAll(SERVER_ID, '{"id":"ID"'), stdout);
        assert.equal(ended.code, code, ended.stderr);
      });
    }
  }

  it("is also that of --output sse", async () => {
    await using place = await createPlace();
    await using upstream = await RESPONSES.start({ engine: script(reply.text("Hi", whole)) });
    const ended = await place.run(runAt(upstream, RESPONSES, "-o", "sse", "Hi"));
    assert.match(ended.stdout, /^event: response_start\ndata: \{"id":"resp_1",/);
  });
});

const SERVER_ID = /\{"id":"(?:chatcmpl-|resp_)\w+"/g;

describe("--output json", () => {
  it("is one document about the run", async () => {
    await using place = await createPlace(FILES);
    await using upstream = await RESPONSES.start({ engine: script(readA, reply.text("Done")) });
    const ended = await place.run(runAt(upstream, RESPONSES, "-o", "json", "Hi"));
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(ended.stdout, /^\{[^\n]*\}\n$/);
    const { run_id, model, ending, message, error, output_text, output, turns, tool_calls } =
      JSON.parse(ended.stdout);
    assert.match(run_id, /^run_/);
    assert.deepEqual(
      [model, ending, message, error],
      ["custom/test-model", "completed", null, null],
    );
    assert.deepEqual([output_text, turns, tool_calls], ["Done", 2, 1]);
    assert.deepEqual(
      output.map(({ type }: { type: string }) => type),
      ["function_call", "function_call_output", "message"],
    );
  });

  it("is the document alone if one was requested", async () => {
    await using place = await createPlace(FILES);
    await using upstream = await CHAT.start({ engine: script(reply.text('{"capital":"Paris"}')) });
    const flags = ["-o", "json", "--schema", "capital.json"];
    const ended = await place.run(runAt(upstream, CHAT, ...flags, "Hi"));
    assert.deepEqual([ended.code, ended.stdout], [0, '{"capital":"Paris"}\n']);
  });

  it("reports what went wrong", async () => {
    await using place = await createPlace();
    const failure = reply.failure("It broke.", { text: "Half" });
    await using upstream = await CHAT.start({ engine: script(failure) });
    const ended = await place.run(runAt(upstream, CHAT, "-o", "json", "Hi"));
    assert.equal(ended.code, 1);
    const { ending, error, output_text } = JSON.parse(ended.stdout);
    assert.deepEqual([ending, error.code, output_text], ["failed", "provider_failed", "Half"]);
  });
});

describe("--output jsonl", () => {
  it("is the log of the run, one event on each line, numbered without gaps", async () => {
    await using place = await createPlace(FILES);
    await using upstream = await CHAT.start({ engine: script(readA, reply.text("Done")) });
    const ended = await place.run(runAt(upstream, CHAT, "-o", "jsonl", "Hi"));
    assert.equal(ended.code, 0, ended.stderr);
    const lines = ended.stdout.trimEnd().split("\n");
    const events = lines.map((line) => JSON.parse(line) as LoggedEvent & RunEvent);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index),
    );
    const milestones = events
      .map(({ type }) => type)
      .filter((type) => !/delta|item|^start/.test(type));
    assert.deepEqual(milestones, [
      ...["run_start", "turn_start", "turn_end", "tool_start", "tool_decision"],
      "tool_end",
      ...["turn_start", "turn_end", "run_end"],
    ]);
    const [id = ""] = await place.runIds();
    assert.ok(events.every(({ run_id }) => run_id === id));
    const { events: kept } = await place.show(id);
    assert.deepEqual(
      kept.map(({ type }) => type),
      events.map(({ type }) => type),
    );
  });
});
