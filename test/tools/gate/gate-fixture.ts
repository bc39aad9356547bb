/** A gate with tools of all kinds, for the tests of what it decides, asks and runs. */

import { after } from "node:test";
import { z } from "zod";
import { Failure } from "../../../src/base/failure.ts";
import type { Json } from "../../../src/base/json.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import type { Answer, Question } from "../../../src/tools/gate/ask.ts";
import type { Decision, GateParts, ToolResult } from "../../../src/tools/gate/call.ts";
import { createGate } from "../../../src/tools/gate/gate.ts";
import { parseRule } from "../../../src/tools/gate/rules.ts";
import { type Effect, type Targets, type Tool, ToolOutput } from "../../../src/tools/tool.ts";
import { patience } from "../../patience.ts";
import { createWorkspaceFolder, toGateParts } from "../workspace-folder.ts";

export const folder = createWorkspaceFolder({
  "a.txt": "a",
  "secrets/b.txt": "b",
  ".env": "KEY=1",
});
after(() => folder[Symbol.dispose]());

interface Options {
  readonly readOnly?: boolean;
  readonly effect?: Effect;
  readonly timeoutMs?: number;
  readonly targets?: (input: { x?: number | undefined; path?: string | undefined }) => Targets;
}

export function define(
  name: string,
  run: (input: { x?: number | undefined }, signal: AbortSignal) => Promise<Json | ToolOutput>,
  { readOnly = true, ...rest }: Options = {},
): Tool {
  const parameters = z.object({ x: z.number().optional(), path: z.string().optional() });
  return defineTool({
    name,
    description: "A tool.",
    parameters,
    readOnly,
    ...rest,
    run: (input, { signal }) => run(input, signal),
  });
}

export const TOOLS = [
  define("echo", async ({ x }) => `x is ${x}`),
  define("table", async () => ({ rows: [1, 2] })),
  define("say_no", async () => {
    throw new Failure("not_found", "File not found: a.txt");
  }),
  define("break", async () => {
    throw new TypeError("x is not a function");
  }),
  define("write", async () => "written", {
    readOnly: false,
    effect: "write",
    targets: ({ path }) => ({ writes: path === undefined ? [] : [path] }),
  }),
  define("look", async () => "seen", {
    effect: "read",
    targets: ({ path }) => ({ reads: path === undefined ? [] : [path] }),
  }),
  define("leak", async () => "the key is sk-0123456789abcdef0123"),
  define("guarded", async () => {
    throw new Failure("forbidden", "The address is not allowed: localhost (loopback)");
  }),
  define("picture", async () => {
    return new ToolOutput("a plot", [
      { type: "input_image", image_url: "data:image/png;base64,AA" },
    ]);
  }),
];

export interface Called extends ToolResult {
  readonly decisions: readonly Decision[];
}

/** Makes one call through a gate of its own. */
export async function call(
  name: string,
  text: string,
  { signal = patience(), take = () => {}, ...parts }: CallParts = {},
): Promise<Called> {
  const decisions: Decision[] = [];
  const gate = createGate({ ...(await toGateParts(folder.root, TOOLS)), ...parts });
  const result = await gate.call(
    { name, arguments: text },
    { signal, idempotencyKey: "run_1/1", take, decided: async (one) => decisions.push(one) },
  );
  await gate.close();
  return { ...result, decisions };
}

export interface CallParts extends Partial<GateParts> {
  readonly signal?: AbortSignal;
  readonly take?: () => void;
}

export const rule = (verdict: "deny" | "ask" | "allow", text: string) =>
  parseRule(verdict, text, "the test");

export const asking = (
  answer: Answer,
  approve: "ask" | "auto" = "ask",
): Pick<GateParts, "policy" | "ask"> & { questions: Question[] } => {
  const questions: Question[] = [];
  return {
    questions,
    policy: { approve, rules: [] },
    ask: async (question) => {
      questions.push(question);
      return answer;
    },
  };
};
