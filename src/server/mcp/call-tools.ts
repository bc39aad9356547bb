/** Calls of our tools: each starts a run or looks after one, and answers in time with the run's id. */

import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  type CallToolResult,
  ErrorCode,
  McpError,
  type ServerNotification,
  type ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import { readCallDepth, refuseDepth } from "../../tools/mcp/depth.ts";
import { toToolName, toTools } from "./agent-tools.ts";
import type { Desk, DeskCall, DeskRun, ServedAgent } from "./desk.ts";
import { type Arguments, readInput, readText, readWaitMs, refuseOthers } from "./read-arguments.ts";
import { type RunView, watchRun } from "./watch-run.ts";

/** Below the 60 seconds after which most clients give a call up. */
const DEFAULT_WAIT_MS = 45_000;
/** What reading the log of a run at work may take: without it nothing could be said of what it does. */
const LOOK_MS = 250;

export interface CallParts {
  readonly desk: Desk;
  readonly clock?: Clock | undefined;
  /** How long a call waits whose client follows no progress. */
  readonly waitMs?: number | undefined;
  /** Aborted when answers cannot be waited for any longer: the server stops. */
  readonly hurry?: AbortSignal | undefined;
  /** Whether a run goes on when the client that called for it goes. It is cancelled when left out. */
  readonly runsGoOn?: boolean | undefined;
  /** The name of a call that is the same when the call is sent again; none when left out. */
  readonly nameCall?: ((id: Extra["requestId"]) => string | undefined) | undefined;
  /** Shows open questions of the runs that a call waits for to the client; left out where they are asked elsewhere. */
  readonly showQuestions?: ((extra: Extra) => (batch: readonly LoggedEvent[]) => void) | undefined;
}

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export interface ToolCall {
  readonly name: string;
  readonly given: Arguments;
  readonly extra: Extra;
}

/** What a model did wrong is a result that it reads; a tool that nobody has is the protocol's own error. */
export async function answerCall(parts: CallParts, call: ToolCall): Promise<CallToolResult> {
  const act = findAct(parts.desk, call.name);
  if (!act) {
    const names = toTools(parts.desk.agents).map(({ name }) => name);
    const message = `Unknown tool \`${clip(call.name, 64)}\`. Available: ${clip(names.join(", "), 300)}.`;
    throw new McpError(ErrorCode.InvalidParams, message);
  }
  try {
    return await act(parts, call);
  } catch (thrown) {
    if (call.extra.signal.aborted) throw thrown;
    return { content: [{ type: "text", text: toFailure(thrown).message }], isError: true };
  }
}

type Act = (parts: CallParts, call: ToolCall) => Promise<CallToolResult>;

function findAct(desk: Desk, name: string): Act | undefined {
  const agent = desk.agents.find((one) => toToolName(one) === name);
  if (!agent) return Object.hasOwn(ACTS, name) ? ACTS[name] : undefined;
  return async (parts, call) => {
    refuseOthers(call.given, agent.inputSchema ? ["prompt", "input"] : ["prompt"]);
    const prompt = await toPrompt(agent, call.given);
    return await waitFor(
      parts,
      call,
      await desk.start(agent.name, prompt, toDeskCall(parts, call)),
    );
  };
}

/** The document stands after the words, as JSON. Rejects one that does not fit the agent's schema. */
async function toPrompt({ inputSchema }: ServedAgent, given: Arguments): Promise<string> {
  const prompt = readText(given, "prompt");
  const input = inputSchema && readInput(given);
  if (!input) return prompt;
  await checkInput(inputSchema, input);
  return `${prompt}\n\n${JSON.stringify(input, null, 2)}`;
}

async function checkInput(schema: JsonObject, input: JsonObject): Promise<void> {
  const { createCompile } = await import("../../tools/mcp/schema-check.ts");
  const problem = (await createCompile())(schema)(input);
  if (problem === undefined) return;
  throw new Failure("invalid_request", `\`input\` does not fit its schema: ${problem}.`);
}

const ACTS: Readonly<Record<string, Act>> = {
  async run_continue(parts, call) {
    const { given } = call;
    refuseOthers(given, ["run_id", "message"]);
    const [id, message] = [readText(given, "run_id"), readText(given, "message")];
    return await waitFor(parts, call, await parts.desk.goOn(id, message, toDeskCall(parts, call)));
  },
  async run_status(parts, call) {
    refuseOthers(call.given, ["run_id"]);
    return await look(parts, call, 0);
  },
  async run_result(parts, call) {
    refuseOthers(call.given, ["run_id", "wait_s"]);
    return await look(parts, call, readWaitMs(call.given));
  },
  async run_cancel(parts, call) {
    refuseOthers(call.given, ["run_id"]);
    const run = await parts.desk.find(readText(call.given, "run_id"));
    await run.cancel();
    await run.result();
    const waiting = { clock: clockOf(parts), waitMs: undefined, signal: call.extra.signal };
    return { ...toResult(await watchRun(run, waiting)), isError: false };
  },
};

/** Rejects a call that went round through too many servers of ours. */
function toDeskCall({ nameCall }: CallParts, { extra }: ToolCall): DeskCall {
  const depth = readCallDepth(extra._meta);
  refuseDepth(depth);
  return { depth, name: nameCall?.(extra.requestId) };
}

/** A call that started a run is its owner: the client that takes the call back stops the run. */
async function waitFor(parts: CallParts, call: ToolCall, run: DeskRun): Promise<CallToolResult> {
  const { signal } = call.extra;
  const stop = (): void => {
    if (!parts.runsGoOn) void run.cancel();
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    const tell = toTell(call.extra);
    const waitMs = tell ? undefined : (parts.waitMs ?? DEFAULT_WAIT_MS);
    return toResult(await watchRun(run, { ...toWaiting(parts, call), waitMs, tell }));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function look(parts: CallParts, call: ToolCall, waitMs: number): Promise<CallToolResult> {
  const run = await parts.desk.find(readText(call.given, "run_id"));
  // One that has ended is read to its end, however long its log is.
  const most = (await run.hasEnded()) ? undefined : Math.max(waitMs, LOOK_MS);
  const tell = waitMs > 0 ? toTell(call.extra) : undefined;
  return toResult(await watchRun(run, { ...toWaiting(parts, call), waitMs: most, tell }));
}

function toWaiting(parts: CallParts, { extra }: ToolCall) {
  const { hurry, showQuestions } = parts;
  return { clock: clockOf(parts), signal: extra.signal, hurry, observe: showQuestions?.(extra) };
}

/** Undefined for a client that follows no progress. */
function toTell({ _meta, sendNotification }: Extra) {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress: number, message: string): Promise<void> =>
    sendNotification({
      method: "notifications/progress",
      params: { progressToken, progress, message },
    });
}

function toResult({ text, structured, isError }: RunView): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: structured, isError };
}

function clockOf({ clock = systemClock }: CallParts): Clock {
  return clock;
}
