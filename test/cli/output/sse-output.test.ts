import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSseOutput } from "../../../src/cli/output/sse-output.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import {
  answerStart,
  functionCall,
  message,
  reasoning,
  runEnd,
  runFailure,
  runStart,
  toolRun,
  turn,
} from "../../responses/logged-run.ts";
import { project } from "./screen.ts";

const START = 'event: response_start\ndata: {"id":"resp_a","delta":"","type":"response_start"}\n\n';
const BLOCK_END = 'event: block_end\ndata: {"id":"","delta":"","type":"block_end"}\n\n';
const END = 'event: response_end\ndata: {"id":"","delta":"","type":"response_end"}\n\n';
const call = { call_id: "call_1", name: "read" };

const withCall: readonly RunEvent[] = [
  runStart(),
  ...turn(1, answerStart, ...functionCall(0, call, '{"path"', ':"a"}')),
  ...toolRun(call, "   1 | one"),
  ...turn(2, answerStart, ...message(0, "Done.")),
  runEnd(),
];

describe("the SSE form", () => {
  it("frames text as the founding document has it", async () => {
    const log = [runStart(), ...turn(1, answerStart, ...message(0, "Hel", 'lo "you"\n')), runEnd()];
    const { stdout, stderr } = await project(createSseOutput, log);
    assert.equal(
      stdout,
      START +
        'event: output_text\ndata: {"id":"","delta":"Hel","type":"output_text"}\n\n' +
        'event: output_text\ndata: {"id":"","delta":"lo \\"you\\"\\n","type":"output_text"}\n\n' +
        BLOCK_END +
        END,
    );
    assert.equal(stderr, "");
  });

  it("the SSE form has frames for reasoning", async () => {
    const log = [...turn(1, ...reasoning(0, "Hm", "."))];
    const { stdout } = await project(createSseOutput, log);
    assert.equal(
      stdout,
      'event: reasoning_content\ndata: {"id":"","delta":"Hm","type":"reasoning_content"}\n\n' +
        'event: reasoning_content\ndata: {"id":"","delta":".","type":"reasoning_content"}\n\n' +
        BLOCK_END,
    );
  });

  it("frames a tool's call and its result, with one block for each turn", async () => {
    const { stdout } = await project(createSseOutput, withCall);
    assert.equal(
      stdout,
      START +
        'event: tool_call\ndata: {"id":"call_1","delta":"","type":"tool_call","name":"read"}\n\n' +
        'event: tool_call\ndata: {"id":"call_1","delta":"{\\"path\\"","type":"tool_call"}\n\n' +
        'event: tool_call\ndata: {"id":"call_1","delta":":\\"a\\"}","type":"tool_call"}\n\n' +
        BLOCK_END +
        'event: tool_result\ndata: {"id":"call_1","delta":"\\n\\nTool Result (read):\\n   1 | one\\n","type":"tool_result"}\n\n' +
        START +
        'event: output_text\ndata: {"id":"","delta":"Done.","type":"output_text"}\n\n' +
        BLOCK_END +
        END,
    );
  });

  it("shows calls that come at once one after the other", async () => {
    const read = functionCall(0, { call_id: "call_1", name: "read" }, '{"path"', ':"a"}');
    const list = functionCall(1, { call_id: "call_2", name: "glob" }, '{"pattern"', ':"*"}');
    const mixed = read.flatMap((event, at) => [event, ...list.slice(at, at + 1)]);
    const { stdout } = await project(createSseOutput, [...turn(1, answerStart, ...mixed)]);
    const frames = [...stdout.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
    const calls = frames.filter(({ type }) => type === "tool_call");
    assert.deepEqual(
      calls.map(({ id, name, delta }) => [id, name, delta]),
      [
        ["call_1", "read", ""],
        ["call_1", undefined, '{"path"'],
        ["call_1", undefined, ':"a"}'],
        ["call_2", "glob", ""],
        ["call_2", undefined, '{"pattern"'],
        ["call_2", undefined, ':"*"}'],
      ],
    );
    assert.equal(frames.at(-1)?.type, "block_end");
  });

  it("shows the call in which a turn broke off", async () => {
    const [start, first] = functionCall(0, call, '{"path"', ':"a"}');
    assert.ok(start && first);
    const log = [...turn(1, answerStart, start, first).slice(0, -1), runFailure()];
    const { stdout } = await project(createSseOutput, log);
    assert.match(
      stdout,
      /"name":"read"[\s\S]*"delta":"\{\\"path\\""[\s\S]*Error: The key was refused/,
    );
  });

  it("leaves tools out when it is to be brief", async () => {
    const { stdout } = await project(createSseOutput, withCall, { brief: true });
    assert.equal(
      stdout,
      START +
        BLOCK_END +
        START +
        'event: output_text\ndata: {"id":"","delta":"Done.","type":"output_text"}\n\n' +
        BLOCK_END +
        END,
    );
  });

  it("shows a structured answer whole, once, and no block around it", async () => {
    const log = [
      runStart(),
      ...turn(1, ...message(0, '{"river":"Glomma",', '"km":623}')),
      runEnd({ output_json: { river: "Glomma", km: 623 } }),
    ];
    const { stdout } = await project(createSseOutput, log, { isStructured: true });
    assert.equal(
      stdout,
      "event: output_structured\n" +
        'data: {"id":"","delta":"{\\"river\\":\\"Glomma\\",\\"km\\":623}","type":"output_structured"}\n\n' +
        END,
    );
  });

  it("ends a failed run with the error in a block, and with no response_end", async () => {
    const log = [
      runStart(),
      ...turn(1, answerStart, ...message(0, "So")).slice(0, -1),
      runFailure(),
    ];
    const { stdout } = await project(createSseOutput, log);
    assert.equal(
      stdout,
      START +
        'event: output_text\ndata: {"id":"","delta":"So","type":"output_text"}\n\n' +
        'event: block_end\ndata: {"id":"","delta":"Error: The key was refused.","type":"block_end"}\n\n',
    );
  });

  for (const ending of ["max_turns", "budget", "refused", "timeout", "cancelled"] as const) {
    it(`never shows a partial run as complete: ${ending}`, async () => {
      for (const isStructured of [false, true]) {
        const log = [runStart(), runEnd({ ending, message: "Why.", output_text: "Half" })];
        const { stdout } = await project(createSseOutput, log, { isStructured });
        assert.equal(
          stdout,
          'event: block_end\ndata: {"id":"","delta":"Error: Why.","type":"block_end"}\n\n',
        );
      }
    });
  }

  it("writes once for each batch, and nothing for a batch without output", async () => {
    const batches = [[runStart()], turn(1, answerStart, ...message(0, "a", "b")), [runEnd()]];
    const { writes } = await project(createSseOutput, batches);
    assert.deepEqual(
      writes.map(([, text]) => text.split("\n\n").length - 1),
      [4, 1],
    );
  });
});
