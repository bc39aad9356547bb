/**
 * Our agents as an MCP server: tools that start and look after runs, and runs as resources. One server object for each
 * connection; the desk behind it says which agents and runs are the caller's.
 */

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import { type Clock, systemClock } from "../../base/clock.ts";
import { toFailure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { VERSION } from "../../version.ts";
import { toToolName, toTools } from "./agent-tools.ts";
import type { Desk, DeskRun } from "./desk.ts";
import { type Arguments, readText, readWaitMs, refuseOthers } from "./read-arguments.ts";
import { watchRun } from "./watch-run.ts";

/** Below the 60 seconds after which most clients give a call up. */
const DEFAULT_WAIT_MS = 45_000;
/** What reading the log of a run at work may take: without it nothing could be said of what it does. */
const LOOK_MS = 250;
const LISTED_RUNS = 50;
const RUN_URI = /^run:\/\/([^/]+)(\/events)?$/;

export interface McpServerParts {
  readonly desk: Desk;
  readonly clock?: Clock | undefined;
  /** How long a call waits whose client follows no progress. */
  readonly waitMs?: number | undefined;
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export function createMcpServer(parts: McpServerParts): Server {
  const { desk } = parts;
  const server = new Server(
    { name: "offshoot", version: VERSION },
    {
      capabilities: { tools: {}, resources: {} },
      instructions:
        "Each agent_… tool runs an agent and gives its answer with a run_id. Keep the run_id: run_continue goes on with the same conversation, run_result waits for a run that is still running.",
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: toTools(desk.agents) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
    answerCall(parts, { name: params.name, given: params.arguments ?? {}, extra }),
  );
  server.setRequestHandler(ListResourcesRequestSchema, () => listRuns(desk));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: TEMPLATES,
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => readRun(desk, params.uri));
  return server;
}

interface Call {
  readonly name: string;
  readonly given: Arguments;
  readonly extra: Extra;
}

/** What a model did wrong is a result that it reads; a tool that nobody has is the protocol's own error. */
async function answerCall(parts: McpServerParts, call: Call): Promise<CallToolResult> {
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

type Act = (parts: McpServerParts, call: Call) => Promise<CallToolResult>;

function findAct(desk: Desk, name: string): Act | undefined {
  const agent = desk.agents.find((one) => toToolName(one) === name);
  if (!agent) return Object.hasOwn(ACTS, name) ? ACTS[name] : undefined;
  return async (parts, call) => {
    refuseOthers(call.given, ["prompt"]);
    const run = await desk.start(agent.name, readText(call.given, "prompt"));
    return await waitFor(parts, call, run);
  };
}

const ACTS: Readonly<Record<string, Act>> = {
  async run_continue(parts, call) {
    refuseOthers(call.given, ["run_id", "message"]);
    const message = readText(call.given, "message");
    return await waitFor(
      parts,
      call,
      await parts.desk.goOn(readText(call.given, "run_id"), message),
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
    const view = await watchRun(run, {
      clock: clockOf(parts),
      waitMs: undefined,
      signal: call.extra.signal,
    });
    return { ...toResult(view), isError: false };
  },
};

/** A call that started a run is its owner: the client that takes the call back stops the run. */
async function waitFor(parts: McpServerParts, call: Call, run: DeskRun): Promise<CallToolResult> {
  const { signal, _meta, sendNotification } = call.extra;
  const progressToken = _meta?.progressToken;
  const stop = (): void => void run.cancel();
  signal.addEventListener("abort", stop, { once: true });
  const tell =
    progressToken === undefined
      ? undefined
      : (progress: number, message: string) =>
          sendNotification({
            method: "notifications/progress",
            params: { progressToken, progress, message },
          });
  try {
    const waitMs = tell ? undefined : (parts.waitMs ?? DEFAULT_WAIT_MS);
    return toResult(await watchRun(run, { clock: clockOf(parts), waitMs, signal, tell }));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function look(parts: McpServerParts, call: Call, waitMs: number): Promise<CallToolResult> {
  const run = await parts.desk.find(readText(call.given, "run_id"));
  const { signal } = call.extra;
  // One that has ended is read to its end, however long its log is.
  const most = (await run.hasEnded()) ? undefined : Math.max(waitMs, LOOK_MS);
  return toResult(await watchRun(run, { clock: clockOf(parts), waitMs: most, signal }));
}

function toResult({
  text,
  structured,
  isError,
}: Awaited<ReturnType<typeof watchRun>>): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: structured, isError };
}

function clockOf({ clock = systemClock }: McpServerParts): Clock {
  return clock;
}

const TEMPLATES = [
  {
    uriTemplate: "run://{run_id}",
    name: "run",
    description: "A run and all below it: what was asked, said and done.",
    mimeType: "text/markdown",
  },
  {
    uriTemplate: "run://{run_id}/events",
    name: "run-events",
    description: "The log of a run and all below it, one JSON object for each line.",
    mimeType: "application/jsonl",
  },
];

async function listRuns(
  desk: Desk,
): Promise<{ resources: { uri: string; name: string; mimeType: string }[] }> {
  const runs = await desk.list(LISTED_RUNS);
  const resources = runs.map(({ id, title, status }) => ({
    uri: `run://${id}`,
    name: clip(`${title} (${status})`, 120),
    mimeType: "text/markdown",
  }));
  return { resources };
}

async function readRun(
  desk: Desk,
  uri: string,
): Promise<{ contents: { uri: string; mimeType: string; text: string }[] }> {
  const [, id, events] = RUN_URI.exec(uri) ?? [];
  if (id === undefined) {
    throw new McpError(
      RESOURCE_NOT_FOUND,
      `There is no resource \`${clip(uri, 120)}\`. Use run://RUN_ID.`,
    );
  }
  try {
    const text = events ? await desk.toLines(id) : await desk.toMarkdown(id);
    return { contents: [{ uri, mimeType: events ? "application/jsonl" : "text/markdown", text }] };
  } catch (thrown) {
    throw new McpError(RESOURCE_NOT_FOUND, toFailure(thrown).message);
  }
}

/** The protocol's own code for a resource that is not there. */
const RESOURCE_NOT_FOUND = -32_002;
