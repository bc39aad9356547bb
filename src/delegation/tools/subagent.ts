/**
 * `subagent`: gives a focused task to a run of its own. The model always gets the envelope; an invalid call starts
 * nothing.
 */

import { Failure, toFailure } from "../../base/failure.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import { REPORT_WISH } from "../../protocol/report-wish.ts";
import { toOwnNames } from "../../tools/same-tools.ts";
import { type Tool, type ToolContext, ToolOutput } from "../../tools/tool.ts";
import { withAgents } from "../agents/agent-spec.ts";
import { readAgentWish } from "../agents/agent-wish.ts";
import type { RanChild } from "../background.ts";
import type { WatchingNode } from "../background-door.ts";
import type { ChildWish } from "../child.ts";
import { readContinued } from "../continued-child.ts";
import { type Envelope, toEnvelope, toErrorEnvelope, toOpenEnvelope } from "../envelope.ts";
import type { DelegationNode } from "../node.ts";
import type { Spawning } from "../run-child.ts";
import { spawn } from "../spawn.ts";
import { tellEnding } from "../tell-ending.ts";
import { ASK_PARENT, isDelegating } from "./names.ts";
import { NO_TIMEOUT_MS, SUBAGENT_SPEC, TASK_SPEC } from "./specs.ts";

export function createSubagentTool(node: WatchingNode): Tool {
  return {
    spec: withAgents(node.background ? SUBAGENT_SPEC : TASK_SPEC, node.agents),
    asksAbout: (input) => askAbout(node, input as Json),
    // Children of one turn run at the same time.
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

interface Call {
  readonly wish: ChildWish;
  /** The child that it continues. */
  readonly continues: string | undefined;
}

/** Checks a call that may name an agent. */
function readCall(input: Json, node: WatchingNode): Call {
  const parent = { agents: node.agents, tools: node.task.tools };
  if (!node.background || !isJsonObject(input)) {
    return {
      wish: readAgentWish(input, (rest) => readWish(rest, node), parent),
      continues: undefined,
    };
  }
  const { background, continue: continues, ...task } = input;
  const wish = readAgentWish(task, (rest) => readWish(rest, node), parent);
  return { wish: { ...wish, isBackground: readFlag(background) }, continues: readName(continues) };
}

function readFlag(given: Json | undefined): boolean {
  if (given === undefined || given === null) return false;
  if (typeof given === "boolean") return given;
  throw invalid("Invalid input: `background` must be true or false");
}

function readName(given: Json | undefined): string | undefined {
  if (given === undefined || given === null || given === "") return undefined;
  if (typeof given === "string") return given;
  throw invalid("Invalid input: `continue` must be the id or the label of a subagent");
}

/** An invalid call costs nothing: it is refused when it runs, with its own message. */
async function askAbout(node: WatchingNode, input: Json): Promise<string | undefined> {
  try {
    return await node.asksAbout([readCall(input, node).wish]);
  } catch {
    return undefined;
  }
}

async function delegate(node: WatchingNode, input: Json, context: ToolContext): Promise<Envelope> {
  const label = isJsonObject(input) && typeof input["label"] === "string" ? input["label"] : "";
  const named = { label, depth: node.task.depth + 1 };
  const { observe, settings } = node;
  try {
    const { wish, continues } = readCall(input, node);
    const whole = continues === undefined ? wish : await readContinued(node, wish, continues);
    const ran = await runChild(node, whole, {
      callKey: context.idempotencyKey,
      key: toKey(label, context.idempotencyKey),
      executor: settings.executor,
      signal: context.signal,
    });
    if (!ran.report) return toOpenEnvelope(named, ran);
    const { report } = ran;
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

/** Runs a child of a call, which may continue without it. */
export async function runChild(
  node: WatchingNode,
  wish: ChildWish,
  spawning: Spawning,
): Promise<RanChild> {
  if (node.background) return await (await node.background.open()).run(wish, spawning);
  return { report: await spawn(node, wish, spawning) };
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

/** Checks a call with the messages of the contract; throws `Failure("invalid_request")`. */
export function readWish(input: Json, node: Pick<DelegationNode, "tools">): ChildWish {
  if (!isJsonObject(input)) throw invalid("Invalid input: the arguments must be an object");
  const extra = Object.keys(input).find((name) => !FIELDS.includes(name));
  if (extra !== undefined) throw invalid(`Invalid input: unknown field \`${extra}\``);
  const { label, task_prompt, summary_prompt, allowed_tools, max_turns } = input;
  if (typeof label !== "string" || label.trim() === "") {
    throw invalid("Invalid input: missing field `label`");
  }
  if (typeof task_prompt !== "string" || task_prompt.trim() === "") {
    throw invalid("task_prompt cannot be empty");
  }
  return {
    label,
    prompt: task_prompt,
    instructions: null,
    summaryPrompt: readSummary(summary_prompt),
    tools: readTools(allowed_tools, node),
    canAsk: Array.isArray(allowed_tools) && allowed_tools.includes(ASK_PARENT),
    maxTurns: readTurns(max_turns),
  };
}

function readSummary(given: Json | undefined): string | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given === "string") {
    return given.trim() === "" || given === REPORT_WISH ? undefined : given;
  }
  throw invalid("Invalid input: `summary_prompt` must be a text");
}

/** A child whose tools are named delegates no further; a child with its parent's tools may. */
function readTools(
  given: Json | undefined,
  { tools }: Pick<DelegationNode, "tools">,
): string[] | undefined {
  if (given === undefined || given === null) return undefined;
  if (!Array.isArray(given) || !given.every((name) => typeof name === "string")) {
    throw invalid("Invalid input: `allowed_tools` must be a list of tool names");
  }
  const own = tools.map(({ spec }) => spec.name);
  const asked = (given as string[]).filter((name) => name !== ASK_PARENT);
  const names = toOwnNames(asked, own);
  const delegating = names.find(isDelegating);
  if (delegating) throw invalid(`Tool '${delegating}' cannot be used by subagents`);
  const unknown = names.find((name) => !own.includes(name));
  if (unknown !== undefined) throw invalid(`Unknown tool in allowed_tools: ${unknown}`);
  return names;
}

function readTurns(given: Json | undefined): number | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given === "number" && Number.isInteger(given) && given >= 1 && given <= 50)
    return given;
  throw invalid("max_turns must be between 1 and 50");
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
