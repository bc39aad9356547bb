/** The calls of our tools: each starts or controls a run, and answers in time with the run's id. */

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
import { isJsonObject } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import { readCallDepth, refuseDepth } from "../../tools/mcp/depth.ts";
import { MAX_WAIT_S, toToolName, toTools } from "./agent-tools.ts";
import { isClientTimeout } from "./cancel-reason.ts";
import type { Desk, DeskCall, DeskRun, ServedAgent } from "./desk.ts";
import { type WatchedRun, watchRun } from "./watch-run.ts";

/** Less than the 60 seconds after which most clients give up a call. */
const DEFAULT_WAIT_MS = 45_000;
/** A timer takes no more than 24 days. A client that waits for more than a day has lost its run. */
const MAX_WAIT_MS = 24 * 3_600_000;
/**
 * Time to read the log of a run at work, without which the answer could not say what the run does.
 */
const LOOK_MS = 250;

export interface CallParts {
  readonly desk: Desk;
  readonly clock?: Clock | undefined;
  /**
   * How long a call waits for its run; 45 seconds when left out. It is the same for a client that asks for progress:
   * many clients do so with every call, and still give up after their own limit.
   */
  readonly waitMs?: number | undefined;
  /** Aborted when the server stops and answers can no longer wait. */
  readonly hurry?: AbortSignal | undefined;
  /**
   * True if a run continues after the client that called for it goes. When left out, it is cancelled.
   */
  readonly runsGoOn?: boolean | undefined;
  /**
   * The name of a call, which stays the same when the call is sent again. When left out, calls have no names.
   */
  readonly nameCall?: ((id: Extra["requestId"]) => string | undefined) | undefined;
  /**
   * Shows the client the open questions of the runs that a call waits for. Left out if they are asked elsewhere.
   */
  readonly showQuestions?: ((extra: Extra) => (batch: readonly LoggedEvent[]) => void) | undefined;
}

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export interface McpToolCall {
  readonly name: string;
  readonly given: Arguments;
  readonly extra: Extra;
}

/**
 * A mistake of the model is a result that it reads. An unknown tool is an error of the protocol.
 */
export async function answerCall(parts: CallParts, call: McpToolCall): Promise<CallToolResult> {
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

type Act = (parts: CallParts, call: McpToolCall) => Promise<CallToolResult>;

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

/** The document follows the words, as JSON. Rejects one that does not fit the agent's schema. */
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
    const id = readText(given, "run_id");
    const message = readText(given, "message");
    return await waitFor(
      parts,
      call,
      await parts.desk.continueRun(id, message, toDeskCall(parts, call)),
    );
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

/** Rejects a call that passed too many of our servers. */
function toDeskCall({ nameCall }: CallParts, { extra }: McpToolCall): DeskCall {
  const depth = readCallDepth(extra._meta);
  refuseDepth(depth);
  return { depth, name: nameCall?.(extra.requestId) };
}

/**
 * The call that started a run owns it: a client that cancels the call stops the run. One that only waited too long
 * finds the run later.
 */
async function waitFor(parts: CallParts, call: McpToolCall, run: DeskRun): Promise<CallToolResult> {
  const { signal } = call.extra;
  const stop = (): void => {
    if (!parts.runsGoOn && !isClientTimeout(signal.reason)) void run.cancel();
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    const waitMs = Math.min(parts.waitMs ?? DEFAULT_WAIT_MS, MAX_WAIT_MS);
    const tell = toTell(call.extra);
    return toResult(await watchRun(run, { ...toWaiting(parts, call), waitMs, tell }));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function look(parts: CallParts, call: McpToolCall, waitMs: number): Promise<CallToolResult> {
  const run = await parts.desk.find(readText(call.given, "run_id"));
  // The log of a run that has ended is read to its end, however long it is.
  const most = (await run.hasEnded()) ? undefined : Math.max(waitMs, LOOK_MS);
  const tell = waitMs > 0 ? toTell(call.extra) : undefined;
  return toResult(await watchRun(run, { ...toWaiting(parts, call), waitMs: most, tell }));
}

function toWaiting(parts: CallParts, { extra }: McpToolCall) {
  const { hurry, showQuestions } = parts;
  return { clock: clockOf(parts), signal: extra.signal, hurry, observe: showQuestions?.(extra) };
}

/** Undefined if the client follows no progress. */
function toTell({ _meta, sendNotification }: Extra) {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress: number, message: string): Promise<void> =>
    sendNotification({
      method: "notifications/progress",
      params: { progressToken, progress, message },
    });
}

function toResult({ text, structured, isError }: WatchedRun): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: structured, isError };
}

function clockOf({ clock = systemClock }: CallParts): Clock {
  return clock;
}

/** Reads the arguments of a call by hand, so that each mistake is one line for the model that made it. */
type Arguments = Readonly<Record<string, unknown>>;

/** Refuses unknown fields: a misspelt one would be ignored in silence. */
function refuseOthers(given: Arguments, known: readonly string[]): void {
  const other = Object.keys(given).find((name) => !known.includes(name));
  if (other === undefined) return;
  const near = nearest(other, known);
  const hint = near === undefined ? `It takes ${known.join(", ")}.` : `Did you mean \`${near}\`?`;
  throw new Failure("invalid_request", `Unknown argument \`${clip(other, 60)}\`. ${hint}`);
}

function readText(given: Arguments, name: string): string {
  const value = given[name];
  if (typeof value === "string" && value.trim() !== "") return value;
  const what = value === undefined ? "is missing" : "must be a text that is not empty";
  throw new Failure("invalid_request", `\`${name}\` ${what}.`);
}

/** Undefined if there is none. */
function readInput(given: Arguments): JsonObject | undefined {
  const value = given["input"];
  if (value === undefined || isJsonObject(value)) return value;
  throw new Failure("invalid_request", "`input` must be an object.");
}

function readWaitMs(given: Arguments): number {
  const value = given["wait_s"] ?? 0;
  if (typeof value === "number" && value >= 0 && value <= MAX_WAIT_S) return value * 1000;
  const message = `\`wait_s\` must be a number from 0 to ${MAX_WAIT_S}, not ${clip(JSON.stringify(value), 40)}.`;
  throw new Failure("invalid_request", message);
}
