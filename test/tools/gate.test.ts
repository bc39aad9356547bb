import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { Failure } from "../../src/base/failure.ts";
import type { Json } from "../../src/base/json.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { createGate } from "../../src/tools/gate.ts";
import type { Tool, ToolContext } from "../../src/tools/tool.ts";
import { toContext } from "./workspace-folder.ts";

function define(
  name: string,
  run: (input: { x?: number }) => Promise<Json>,
  readOnly = true,
): Tool {
  const parameters = z.object({ x: z.number().optional() });
  return defineTool({ name, description: "A tool.", parameters, readOnly, run });
}

const gate = createGate([
  define("echo", async ({ x }) => `x is ${x}`),
  define("table", async () => ({ rows: [1, 2] })),
  define("say_no", async () => {
    throw new Failure("not_found", "File not found: a.txt");
  }),
  define("break", async () => {
    throw new TypeError("x is not a function");
  }),
  define("write", async () => "", false),
]);

const call = (name: string, text: string, context: ToolContext = toContext("/")) =>
  gate.call({ name, arguments: text }, context);

describe("gate", () => {
  it("runs a tool and gives its text as it is", async () => {
    assert.deepEqual(await call("echo", '{"x": 2}'), {
      output: "x is 2",
      failed: false,
      thrown: false,
    });
  });

  it("gives anything but text as JSON", async () => {
    assert.equal((await call("table", "{}")).output, '{"rows":[1,2]}');
  });

  it("takes no text for no arguments", async () => {
    assert.equal((await call("echo", " ")).output, "x is undefined");
  });

  const refusals: readonly [name: string, tool: string, text: string, output: RegExp][] = [
    [
      "arguments that do not parse",
      "echo",
      '{"x": 2',
      /^Error: The arguments of `echo` are not JSON\.$/,
    ],
    [
      "arguments that do not fit",
      "echo",
      '{"x": "2"}',
      /^Error: The arguments of `echo` do not fit: x: .+\.$/,
    ],
    [
      "arguments that are no object",
      "echo",
      "null",
      /^Error: The arguments of `echo` do not fit: arguments: .+\.$/,
    ],
    [
      "a tool that is not there",
      "ecko",
      "{}",
      /^Error: There is no tool named `ecko`\. Did you mean `echo`\? Tools: echo, table, say_no, break, write\.$/,
    ],
    [
      "a tool unlike any",
      "delete_everything",
      "{}",
      /^Error: There is no tool named `delete_everything`\. Tools: echo,/,
    ],
    [
      "a name out of every object",
      "constructor",
      "{}",
      /^Error: There is no tool named `constructor`\./,
    ],
    ["a tool that says what is wrong", "say_no", "{}", /^Error: File not found: a\.txt$/],
  ];
  for (const [name, tool, text, output] of refusals) {
    it(`tells the model of ${name}`, async () => {
      const result = await call(tool, text);
      assert.match(result.output, output);
      assert.deepEqual([result.failed, result.thrown], [true, false]);
    });
  }

  it("tells a tool that broke from one that says what is wrong", async () => {
    assert.deepEqual(await call("break", "{}"), {
      output: "Error: x is not a function",
      failed: true,
      thrown: true,
    });
  });

  it("says that there are no tools where there are none", async () => {
    const { output } = await createGate([]).call({ name: "a", arguments: "" }, toContext("/"));
    assert.equal(output, "Error: There is no tool named `a`. Tools: none.");
  });

  it("hands the context on as it is", async () => {
    const context = toContext("/workspace");
    let seen: ToolContext | undefined;
    const spy: Tool = {
      ...define("spy", async () => ""),
      run: async (_, given) => {
        seen = given;
        return "";
      },
    };
    await createGate([spy]).call({ name: "spy", arguments: "{}" }, context);
    assert.equal(seen, context);
  });

  it("starts nothing in a cancelled run", async () => {
    const reason = new Failure("timeout", "too late");
    const context = toContext("/", AbortSignal.abort(reason));
    await assert.rejects(call("echo", "{}", context), reason);
    await assert.rejects(call("unknown", "{}", context), reason);
  });

  it("rejects when the run is cancelled while a tool works, whatever the tool throws", async () => {
    const control = new AbortController();
    const tool = define("slow", async () => {
      control.abort();
      throw new Error("connection closed");
    });
    const cancelled = createGate([tool]).call(
      { name: "slow", arguments: "{}" },
      toContext("/", control.signal),
    );
    await assert.rejects(cancelled, { code: "cancelled" });
  });

  it("knows which calls change nothing", () => {
    assert.deepEqual(
      ["echo", "write", "unknown"].map((name) => gate.isReadOnly(name)),
      [true, false, true],
    );
  });
});
