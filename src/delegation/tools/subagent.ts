/**
 * `subagent`: hands a focused task to a run of its own. Whatever becomes of it, the model gets the
 * envelope; nothing is started on a call that is wrong.
 */

import { Failure, toFailure } from "../../base/failure.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import { REPORT_WISH } from "../../protocol/report-wish.ts";
import type { FunctionTool } from "../../protocol/tools.ts";
import { toOwnNames } from "../../tools/same-tools.ts";
import { type Tool, type ToolContext, ToolOutput } from "../../tools/tool.ts";
import { withAgents } from "../agents/agent-spec.ts";
import { readAgentWish } from "../agents/agent-wish.ts";
import type { ChildWish } from "../child.ts";
import { type Envelope, toEnvelope, toErrorEnvelope } from "../envelope.ts";
import type { DelegationNode } from "../node.ts";
import { spawn } from "../spawn.ts";
import { isDelegating } from "./names.ts";

/** Longer than any child may live: its own limit ends it. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

export function createSubagentTool(node: DelegationNode): Tool {
  return {
    spec: withAgents(SUBAGENT_SPEC, node.agents),
    asksAbout: (input) => askAbout(node, input as Json),
    // Children of one turn run side by side.
    readOnly: true,
    effect: "delegate",
    countChildren: () => 1,
    timeoutMs: NO_TIMEOUT_MS,
    parse: (input) => input,
    async run(input, context) {
      const envelope = await delegate(node, input as Json, context);
      return new ToolOutput({ ...envelope }, [], { failed: !envelope.success });
    },
  };
}

const DESCRIPTION =
  "Delegate a focused task to a recursive agent instance with isolated conversation context. Use this when you need to explore a sub-problem independently without polluting the main conversation. Without `allowed_tools` it has all of your tools. Several calls in one turn run side by side.";

export const SUBAGENT_SPEC: FunctionTool = {
  type: "function",
  name: "subagent",
  description: DESCRIPTION,
  strict: false,
  parameters: {
    type: "object",
    required: ["label", "task_prompt"],
    properties: {
      label: {
        type: "string",
        minLength: 1,
        description: "Unique identifier for tracking this subagent instance.",
      },
      task_prompt: {
        type: "string",
        minLength: 1,
        description:
          "The specific task for the subagent to complete. Should be self-contained and explicit.",
      },
      summary_prompt: {
        type: "string",
        default: REPORT_WISH,
        description:
          "How to summarize the subagent's findings, when its last answer is not to be its report: it is asked once more then.",
      },
      allowed_tools: {
        type: "array",
        items: { type: "string" },
        description:
          "Names of the tools it may use; left out, all of yours. `subagent` cannot be named.",
      },
      max_turns: {
        type: "integer",
        minimum: 1,
        maximum: 50,
        description: "Most model calls it may make.",
      },
    },
    additionalProperties: false,
  },
};

/** Checks a call that may name an agent. */
function readCall(input: Json, node: DelegationNode): ChildWish {
  const parent = { agents: node.agents, tools: node.task.tools };
  return readAgentWish(input, (rest) => readWish(rest, node), parent);
}

/** A call that is wrong costs nothing: it is refused when it runs, in its own words. */
function askAbout(node: DelegationNode, input: Json): string | undefined {
  try {
    return node.asksAbout([readCall(input, node)]);
  } catch {
    return undefined;
  }
}

async function delegate(
  node: DelegationNode,
  input: Json,
  context: ToolContext,
): Promise<Envelope> {
  const label = isJsonObject(input) && typeof input["label"] === "string" ? input["label"] : "";
  const named = { label, depth: node.task.depth + 1 };
  const { observe, settings } = node;
  try {
    const wish = readCall(input, node);
    const report = await spawn(node, wish, {
      callKey: context.idempotencyKey,
      key: toKey(label, context.idempotencyKey),
      executor: settings.executor,
      signal: context.signal,
    });
    const envelope = toEnvelope(named, report, {
      maxBytes: settings.outputMaxSize,
      isRecorded: node.isRecorded,
      observe,
    });
    tellEnding(node, named, { report, envelope });
    return envelope;
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (context.signal.aborted) throw failure;
    observe({ event: "error", ...named, error: failure.message });
    return toErrorEnvelope(named, failure.message);
  }
}

function tellEnding(
  { observe }: DelegationNode,
  named: { readonly label: string; readonly depth: number },
  {
    report,
    envelope,
  }: { readonly report: Awaited<ReturnType<typeof spawn>>; readonly envelope: Envelope },
): void {
  const { ending, turns: turns_used, usage } = report;
  if (!envelope.success) {
    observe({ event: "error", ...named, error: envelope.error ?? ending });
    return;
  }
  if (ending === "max_turns")
    observe({ event: "max_turns_exceeded", ...named, max_turns: turns_used });
  const status = ending === "completed" ? "complete" : "incomplete";
  observe({ event: "complete", ...named, turns_used, tokens_consumed: usage.total_tokens, status });
}

/** `research docs` of the call `run/tool:2.0` is `research-docs-2.0`: the same when it is asked for again. */
export function toKey(label: string, callKey: string): string {
  const place = callKey.slice(callKey.lastIndexOf(":") + 1);
  const word = label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return word === "" ? place : `${word}-${place}`;
}

const FIELDS = ["label", "task_prompt", "summary_prompt", "allowed_tools", "max_turns"];

/** Checks a call in the words of the contract; throws `Failure("invalid_request")`. */
export function readWish(input: Json, node: Pick<DelegationNode, "tools">): ChildWish {
  if (!isJsonObject(input)) throw wrong("Invalid input: the arguments must be an object");
  const extra = Object.keys(input).find((name) => !FIELDS.includes(name));
  if (extra !== undefined) throw wrong(`Invalid input: unknown field \`${extra}\``);
  const { label, task_prompt, summary_prompt, allowed_tools, max_turns } = input;
  if (typeof label !== "string" || label.trim() === "") {
    throw wrong("Invalid input: missing field `label`");
  }
  if (typeof task_prompt !== "string" || task_prompt.trim() === "") {
    throw wrong("task_prompt cannot be empty");
  }
  return {
    label,
    prompt: task_prompt,
    instructions: null,
    summaryPrompt: readSummary(summary_prompt),
    tools: readTools(allowed_tools, node),
    maxTurns: readTurns(max_turns),
  };
}

function readSummary(given: Json | undefined): string | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given === "string") {
    return given.trim() === "" || given === REPORT_WISH ? undefined : given;
  }
  throw wrong("Invalid input: `summary_prompt` must be a text");
}

/** A child whose tools are named delegates no further; one that has its parent's may. */
function readTools(
  given: Json | undefined,
  { tools }: Pick<DelegationNode, "tools">,
): string[] | undefined {
  if (given === undefined || given === null) return undefined;
  if (!Array.isArray(given) || !given.every((name) => typeof name === "string")) {
    throw wrong("Invalid input: `allowed_tools` must be a list of tool names");
  }
  const own = tools.map(({ spec }) => spec.name);
  const names = toOwnNames(given as string[], own);
  const delegating = names.find(isDelegating);
  if (delegating) throw wrong(`Tool '${delegating}' cannot be used by subagents`);
  const unknown = names.find((name) => !own.includes(name));
  if (unknown !== undefined) throw wrong(`Unknown tool in allowed_tools: ${unknown}`);
  return names;
}

function readTurns(given: Json | undefined): number | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given === "number" && Number.isInteger(given) && given >= 1 && given <= 50)
    return given;
  throw wrong("max_turns must be between 1 and 50");
}

function wrong(message: string): Failure {
  return new Failure("invalid_request", message);
}
