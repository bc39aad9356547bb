/**
 * What `/mcp` answers: agents of this server as tools of MCP clients, over streamable HTTP. Stateless: each request has a server
 * object of its own, and no process remembers a client. What belongs to a client beyond one request is in the record
 * (runs, questions, the names of calls) or in the id of its session.
 */

import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import type { Clock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { AgentDefinition } from "../../delegation/agents/definition.ts";
import type { OpenedResponses } from "../../responses/api/open-responses.ts";
import { findQuestions } from "../../runtime/approvals.ts";
import type { RecordApi } from "../../runtime/record/record-api.ts";
import { toMcpAnswer } from "../failure-answer.ts";
import type { Answer, BytesAnswer, RouteCall } from "../route.ts";
import { isOfferedToClients } from "./agent-request.ts";
import { DEADLINE_MS } from "./ask-client.ts";
import type { CallParts, Extra } from "./call-tools.ts";
import { createFormShower, readForm, readFormId } from "./elicitation.ts";
import { type HttpSession, openHttpSession, readHttpSession } from "./http-session.ts";
import { createMcpServer } from "./mcp-server.ts";
import { createServedPrompts } from "./served-prompts.ts";
import { createTenantDesk, type TenantDesk, type TenantDeskParts } from "./tenant-desk.ts";

export interface McpDoorParts {
  readonly responses: OpenedResponses;
  readonly record: RecordApi;
  /** All of the server; those are offered whose files say so. */
  readonly agents: readonly AgentDefinition[];
  readonly settings: McpSettings;
  readonly clock?: Clock | undefined;
}

export interface McpSettings {
  readonly promptsDir: string | undefined;
  /** How long a call waits whose client follows no progress. */
  readonly waitMs: number;
  /** How long questions wait that no client is asked; undefined where they are denied at once. */
  readonly approvalWaitMs: number | undefined;
  /** How long a stream may be silent before a comment keeps it open. */
  readonly keepAliveMs: number;
}

/** JSON-RPC's own, for what is not JSON. */
const PARSE_ERROR = -32_700;
/** The protocol's, for a session that this server did not begin. */
const NO_SESSION = -32_001;
/** Messages of one request; the newest version of the protocol allows one. */
const MAX_BATCH = 20;

export type McpDoor = (call: RouteCall) => Promise<Answer>;

export function createMcpDoor(parts: McpDoorParts): McpDoor {
  const { responses, record, agents, settings } = parts;
  const desk: TenantDeskParts = {
    ...{ responses, record },
    agents: agents.filter(isOfferedToClients),
    prompts: createServedPrompts(settings.promptsDir),
  };
  return (call) => answer(parts, desk, call);
}

async function answer(
  parts: McpDoorParts,
  deskParts: TenantDeskParts,
  call: RouteCall,
): Promise<Answer> {
  const body = await readBody(call);
  if ("kind" in body) return body;
  const { messages } = body;
  const sealing = { tenant: call.caller.tenant, sealKey: parts.responses.sealKey };
  const given = call.request.headers["mcp-session-id"];
  const session = typeof given === "string" ? readHttpSession(given, sealing) : undefined;
  if (given !== undefined && !session) {
    const message = "There is no such session. Begin a new one with `initialize`.";
    return toMcpAnswer(new Failure("not_found", message), NO_SESSION);
  }
  if (messages.length > 1) await call.countMore(messages.length - 1);
  const approving = toApproving(parts, call, session);
  const { caller, scopes } = call;
  const { approvalWaitMs } = approving;
  const desk = createTenantDesk(deskParts, { caller, scopes, approvalWaitMs });
  await takeNews(parts, { call, desk, session, messages });
  const answered = await exchange(parts, { call, desk, session, asks: approving.asks }, body.whole);
  const elicits = messages.map(readElicits).find((one) => one !== undefined);
  const isBegun = elicits !== undefined && answered.response.ok;
  return toAnswer(answered, isBegun ? { "mcp-session-id": openHttpSession(elicits, sealing) } : {});
}

interface SentMessages {
  readonly whole: unknown;
  readonly messages: readonly unknown[];
}

/** What is not JSON is told in the protocol's own words. */
async function readBody(call: RouteCall): Promise<SentMessages | Answer> {
  let whole: unknown;
  try {
    whole = await call.json();
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (failure.code !== "invalid_request") throw failure;
    return toMcpAnswer(failure, PARSE_ERROR);
  }
  const messages = Array.isArray(whole) ? whole : [whole];
  if (messages.length <= MAX_BATCH) return { whole, messages };
  const message = `A request holds ${messages.length} messages; ${MAX_BATCH} at most are taken.`;
  throw new Failure("invalid_request", message);
}

interface Approving {
  /** Whether the person at the client is asked. */
  readonly asks: boolean;
  readonly approvalWaitMs: number | undefined;
}

/** A key that may not approve is not asked: reading a run must not be enough to let it do something. */
function toApproving(
  { settings }: McpDoorParts,
  { scopes }: RouteCall,
  session: HttpSession | undefined,
): Approving {
  const asks = session?.elicits === true && scopes.includes("approve");
  const least = asks ? DEADLINE_MS : undefined;
  return { asks, approvalWaitMs: settings.approvalWaitMs ?? least };
}

interface Exchange {
  readonly call: RouteCall;
  readonly desk: TenantDesk;
  readonly session: HttpSession | undefined;
  readonly asks: boolean;
}

interface Exchanged {
  readonly response: Response;
  /** Called once, when the whole answer was sent or its client has gone. */
  end(): Promise<void>;
}

/** The SDK's transport reads the messages and writes the stream; the body was read within our own limits. */
async function exchange(
  parts: McpDoorParts,
  { call, desk, session, asks }: Exchange,
  body: unknown,
): Promise<Exchanged> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    keepAliveMs: parts.settings.keepAliveMs,
  });
  const nameCall = (id: RequestId): string | undefined => session && toCallName(session, id);
  const asked = { desk, waitMs: toWaitMs(parts, call), clock: parts.clock };
  const server = createMcpServer({
    ...asked,
    ...{ nameCall, runsGoOn: true, hurry: call.cutSignal() },
    showQuestions: asks ? toShowQuestions(parts, transport) : undefined,
  });
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  const onLeft = (): void => {
    // A server that stops has told its waiting calls to answer as it is: that is sent first.
    if (!(call.signal.reason instanceof Failure)) void server.close();
  };
  call.signal.addEventListener("abort", onLeft, { once: true });
  const end = async (): Promise<void> => {
    // A connection that is kept open has many requests.
    call.signal.removeEventListener("abort", onLeft);
    await server.close();
  };
  try {
    const response = await transport.handleRequest(toWebRequest(call), { parsedBody: body });
    return { response, end };
  } catch (thrown) {
    await end();
    throw thrown;
  }
}

/** What a client says that asks for nothing: it takes a call back, or a person has answered a form. */
async function takeNews(
  { record }: McpDoorParts,
  { call, desk, session, messages }: Omit<Exchange, "asks"> & Pick<SentMessages, "messages">,
): Promise<void> {
  for (const message of messages) {
    if (!isJsonObject(message)) continue;
    const { method, params, id, result, error } = message;
    const requestId = isJsonObject(params) ? params["requestId"] : undefined;
    if (method === "notifications/cancelled" && session && isRequestId(requestId)) {
      await desk.cancelCall(toCallName(session, requestId));
    }
    const place =
      method === undefined && (result ?? error) !== undefined ? readFormId(id) : undefined;
    if (!place || !call.scopes.includes("approve")) continue;
    const wish = { ...readForm(result), question: place.question, from: "an MCP client" };
    // Somebody else was faster, or its time is over: there is nobody to tell.
    await record.answer({ tenant: call.caller.tenant }, place.run, wish).catch(() => {});
  }
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number";
}

/** Within the 255 characters that a name may have. */
function toCallName({ id }: HttpSession, request: RequestId): string {
  return `${id}:${typeof request}:${String(request).slice(0, 180)}`;
}

function toShowQuestions(
  { responses }: McpDoorParts,
  transport: WebStandardStreamableHTTPServerTransport,
): CallParts["showQuestions"] {
  return ({ requestId: relatedRequestId }: Extra) =>
    createFormShower({
      send: (message) => transport.send(message as JSONRPCMessage, { relatedRequestId }),
      async isOpen({ run, question }) {
        const open = await findQuestions(responses.durable.record, run);
        return open.some((one) => one.question === question);
      },
    });
}

/** A client with a short limit says so in the address: `/mcp?wait=4`. */
function toWaitMs({ settings }: McpDoorParts, { query }: RouteCall): number {
  const given = query.get("wait");
  const seconds = given === null || given === "" ? Number.NaN : Number(given);
  return seconds >= 0 ? Math.min(seconds * 1000, settings.waitMs) : settings.waitMs;
}

/** Whether an `initialize` request says that its client shows forms; undefined for any other message. */
function readElicits(message: unknown): boolean | undefined {
  if (!isJsonObject(message) || message["method"] !== "initialize") return undefined;
  const params = message["params"];
  const capabilities: JsonObject | undefined =
    isJsonObject(params) && isJsonObject(params["capabilities"])
      ? params["capabilities"]
      : undefined;
  return isJsonObject(capabilities?.["elicitation"]);
}

/** Only its head counts. Its host was checked by the guard; nobody reads it here. */
function toWebRequest({ request }: RouteCall): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !name.startsWith(":")) headers.set(name, [value].flat().join(", "));
  }
  return new Request("http://offshoot.invalid/mcp", { method: "POST", headers });
}

function toAnswer(
  { response: { status, headers, body }, end }: Exchanged,
  more: Readonly<Record<string, string>>,
): BytesAnswer {
  const { "content-type": type, connection: _, ...rest } = Object.fromEntries(headers);
  return { kind: "bytes", status, type, headers: { ...rest, ...more }, chunks: readAll(body, end) };
}

/** Whoever sends it ends it, also where its client has gone. */
async function* readAll(
  body: ReadableStream<Uint8Array> | null,
  end: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  try {
    if (body) yield* body;
  } finally {
    await end();
  }
}
