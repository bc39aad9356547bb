/**
 * `call_subagent`: gives a prompt to a process of its own and answers with everything it said. An invalid call starts
 * nothing; a failed call is an error and never an empty answer.
 */

import { Failure, toFailure } from "../../base/failure.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import { toOwnNames } from "../../tools/same-tools.ts";
import type { Tool, ToolContext } from "../../tools/tool.ts";
import type { ChildReport, ChildWish } from "../child.ts";
import { checkTools } from "../child-task.ts";
import type { DelegationNode } from "../node.ts";
import { spawn } from "../spawn.ts";
import { CALL_SUBAGENT_SPEC, NO_TIMEOUT_MS } from "./specs.ts";
import { toKey } from "./subagent.ts";

/** The label of its children: the call gives them no name. */
const LABEL = "call_subagent";

export function createCallSubagentTool(node: DelegationNode): Tool {
  return {
    spec: CALL_SUBAGENT_SPEC,
    // Children of one turn run at the same time.
    readOnly: true,
    effect: "delegate",
    countChildren: () => 1,
    timeoutMs: NO_TIMEOUT_MS,
    asksAbout: (input) => node.asksAbout([toWish(input as Call)]),
    parse: (input) => parseCall(input, node),
    run: (input, context) => call(node, input as Call, context),
  };
}

interface Call {
  readonly prompt: string;
  readonly systemPrompt: string | null;
  readonly tools: readonly string[];
}

const FIELDS = Object.keys(CALL_SUBAGENT_SPEC.parameters?.["properties"] ?? {});

function parseCall(input: Json, { tools }: DelegationNode): Call {
  if (!isJsonObject(input)) throw invalid("Invalid input: the arguments must be an object");
  const extra = Object.keys(input).find((name) => !FIELDS.includes(name));
  if (extra !== undefined) throw invalid(`Invalid input: unknown field \`${extra}\``);
  const { prompt, system_prompt = null, tool_subset = null } = input;
  if (typeof prompt !== "string" || prompt.trim() === "") throw invalid("prompt cannot be empty");
  if (system_prompt !== null && typeof system_prompt !== "string") {
    throw invalid("Invalid input: `system_prompt` must be a text");
  }
  const wanted = tool_subset ?? [];
  if (!Array.isArray(wanted) || !wanted.every((name) => typeof name === "string")) {
    throw invalid("Invalid input: `tool_subset` must be a list of tool names");
  }
  const own = tools.map(({ spec }) => spec.name);
  const names = toOwnNames(wanted as string[], own);
  checkTools(names, own);
  return { prompt, systemPrompt: system_prompt, tools: names };
}

function toWish({ prompt, systemPrompt, tools }: Call): ChildWish {
  return {
    label: LABEL,
    prompt,
    instructions: systemPrompt,
    // Everything it says is its answer.
    summaryPrompt: null,
    tools,
    maxTurns: undefined,
  };
}

async function call(node: DelegationNode, call: Call, context: ToolContext): Promise<string> {
  const named = { label: LABEL, depth: node.task.depth + 1 };
  try {
    const report = await spawn(node, toWish(call), {
      callKey: context.idempotencyKey,
      key: toKey(LABEL, context.idempotencyKey),
      executor: "child_process",
      signal: context.signal,
    });
    const { ending, turns: turns_used, usage } = report;
    if (ending === "max_turns") {
      node.observe({ event: "max_turns_exceeded", ...named, max_turns: turns_used });
    }
    const answer = toAnswer(report);
    const figures = { turns_used, tokens_consumed: usage.total_tokens };
    node.observe({ event: "complete", ...named, ...figures, status: "complete" });
    return answer;
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (!context.signal.aborted) {
      node.observe({ event: "error", ...named, error: failure.message });
    }
    throw failure;
  }
}

/** Throws what the child failed with, together with the words it had said, marked as incomplete. */
function toAnswer({ ending, message, text }: ChildReport): string {
  if (ending === "completed") {
    if (text.trim() !== "") return text;
    throw new Failure("tool_failed", "Subagent exited with code 0: It said nothing.");
  }
  const said = text.trim() === "" ? "" : `\nIt did not finish. What it had said:\n${text}`;
  throw new Failure("tool_failed", `${message || `Subagent ended: ${ending}.`}${said}`);
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
