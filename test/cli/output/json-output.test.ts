import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createJsonLinesOutput, createJsonOutput } from "../../../src/cli/output/json-output.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { addUsage } from "../../../src/protocol/usage.ts";
import {
  functionCall,
  message,
  runEnd,
  runFailure,
  runStart,
  toLog,
  toolRun,
  turn,
  USAGE,
} from "../../responses/logged-run.ts";
import { project } from "./screen.ts";

const call = { call_id: "call_1", name: "read" };

const log: readonly RunEvent[] = [
  runStart(),
  ...turn(1, ...functionCall(0, call, "{}")),
  ...toolRun(call, "one"),
  ...turn(2, ...message(0, "It says one.")),
  runEnd({ output_text: "It says one.", turns: 2, tool_calls: 1 }),
];

describe("the JSON form", () => {
  it("is one document on one line: the run, its items, its tokens and its cost", async () => {
    const { stdout, stderr, writes } = await project(createJsonOutput, log);
    const { output, total, ...rest } = JSON.parse(stdout);
    assert.deepEqual([total.runs, total.turns, total.tool_calls], [1, 2, 1]);
    assert.deepEqual(rest, {
      run_id: "run_01",
      model: "openai/gpt-x",
      ending: "completed",
      message: null,
      error: null,
      output_text: "It says one.",
      turns: 2,
      tool_calls: 1,
      usage: addUsage(USAGE, USAGE),
      cost_usd: null,
      seconds: 3.2,
    });
    assert.deepEqual(
      output.map(({ type }: { type: string }) => type),
      ["function_call", "function_call_output", "message"],
    );
    assert.match(stdout, /^[^\n]+\n$/);
    assert.deepEqual([stderr, writes.length], ["", 1]);
  });

  it("adds up the runs below it, and uses nothing else of them", async () => {
    const writes: string[] = [];
    const output = {
      isTerminal: false,
      columns: 80,
      write: (text: string) => void writes.push(text),
    };
    const flags = { brief: false, quiet: false, isStructured: false, doneMarker: false };
    const projection = createJsonOutput({ stdout: output, stderr: output, ...flags });
    const end = log.length - 1;
    await projection.write(toLog(log.slice(0, end)));
    const child = toLog(log).map((logged) => ({ ...logged, run_id: "run_01/a" }));
    await projection.write(child);
    await projection.write(toLog(log).slice(end));
    assert.equal(writes.length, 1);
    const { total, output: items, usage } = JSON.parse(writes[0] ?? "");
    assert.deepEqual(
      [total.runs, total.turns, total.usage.total_tokens],
      [2, 4, 4 * USAGE.total_tokens],
    );
    assert.deepEqual([items.length, usage], [3, addUsage(USAGE, USAGE)]);
  });

  it("is only the answer if that is a document", async () => {
    const structured = [runStart(), runEnd({ output_json: { city: "Paris" } })];
    const { stdout } = await project(createJsonOutput, structured, { isStructured: true });
    assert.equal(stdout, '{"city":"Paris"}\n');
  });

  it("is the run with its error if no document was written", async () => {
    const failed = [runStart(), runFailure()];
    const { stdout } = await project(createJsonOutput, failed, { isStructured: true });
    const { ending, message, error, output } = JSON.parse(stdout);
    assert.deepEqual(
      [ending, message, error.code],
      ["failed", "The key was refused.", "provider_unauthorized"],
    );
    assert.deepEqual(output, []);
  });

  it("keeps a null document and a cost of nothing", async () => {
    const structured = [runStart(), runEnd({ output_json: null })];
    const { stdout } = await project(createJsonOutput, structured, { isStructured: true });
    assert.equal(stdout, "null\n");
    const free = await project(createJsonOutput, [runStart(), runEnd({ cost_usd: 0 })]);
    assert.equal(JSON.parse(free.stdout).cost_usd, 0);
  });

  it("shows the document beside the run if only the run was asked for", async () => {
    const { stdout } = await project(createJsonOutput, [runStart(), runEnd({ output_json: [1] })]);
    assert.deepEqual(JSON.parse(stdout).output_json, [1]);
  });

  it("writes nothing before the end", async () => {
    assert.equal((await project(createJsonOutput, log.slice(0, -1))).stdout, "");
  });
});

describe("the JSON lines form", () => {
  it("is the log itself, each event with its run, its place and its number", async () => {
    const { stdout } = await project(createJsonLinesOutput, log);
    const lines = stdout.trimEnd().split("\n");
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      log.map((event, seq) =>
        JSON.parse(
          JSON.stringify({ run_id: "run_01", parent_id: null, path: "/root", seq, ...event }),
        ),
      ),
    );
    assert.ok(stdout.endsWith("\n"));
  });

  it("names the parent of a delegated run on every line", async () => {
    const child = { ...runStart(), parent_id: "run_00", path: "/root/research" };
    const { stdout } = await project(createJsonLinesOutput, [[child], [runEnd()]]);
    for (const line of stdout.trimEnd().split("\n")) {
      const { parent_id, path } = JSON.parse(line);
      assert.deepEqual([parent_id, path], ["run_00", "/root/research"]);
    }
  });

  it("names the parent of each run where several are mixed", async () => {
    const child = { ...runStart(), run_id: "run_01/a", parent_id: "run_01", path: "/root/a" };
    const { stdout } = await project(createJsonLinesOutput, [[runStart()]]);
    assert.equal(JSON.parse(stdout).parent_id, null);
    const lines: string[] = [];
    const write = (text: string): void => void lines.push(...text.trimEnd().split("\n"));
    const output = { isTerminal: false, columns: 80, write };
    const flags = { brief: false, quiet: false, isStructured: false, doneMarker: false };
    const projection = createJsonLinesOutput({ stdout: output, stderr: output, ...flags });
    await projection.write(toLog([runStart()]));
    await projection.write([{ run_id: "run_01/a", seq: 0, event: child }]);
    await projection.write(toLog([runStart(), runEnd()]).slice(1));
    await projection.write([{ run_id: "run_01/a", seq: 1, event: runEnd() }]);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).parent_id),
      [null, "run_01", null, "run_01"],
    );
  });

  it("writes once for each batch", async () => {
    const { writes } = await project(createJsonLinesOutput, [log.slice(0, 3), log.slice(3)]);
    assert.equal(writes.length, 2);
  });
});
