/**
 * The address `/mcp`: agents of this server as tools of MCP clients, over streamable HTTP. It is stateless: each
 * request has a server object of its own, and no process remembers a client. What lasts beyond one request of a
 * client is in the record (runs, questions, the names of calls) or in the id of its session.
 */

import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import type { Clock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { AgentDefinition } from "../../delegation/agents/definition.ts";
import type { OpenedResponses } from "../../responses/api/open-responses.ts";
import { isOfferedAs } from "../../responses/api/served-agent.ts";
import { findQuestions } from "../../runtime/approvals.ts";
import type { RecordApi } from "../../runtime/record/record-api.ts";
import { toMcpAnswer } from "../failure-answer.ts";
import type { BytesAnswer, RouteAnswer, RouteCall } from "../route.ts";
import { DEADLINE_MS } from "./ask-client.ts";
import { MAX_BATCH } from "./batches.ts";
import type { CallParts, Extra } from "./call-tools.ts";
import { isClientTimeout } from "./cancel-reason.ts";
import { createFormShower, readForm, readFormId, showsForms } from "./elicitation.ts";
import { type HttpSession, openHttpSession, readHttpSession } from "./http-session.ts";
import { createMcpServer } from "./mcp-server.ts";
import { fillMessage } from "./read-message.ts";
import { createServedPrompts } from "./served-prompts.ts";
import { createTenantDesk, type TenantDesk, type TenantDeskParts } from "./tenant-desk.ts";

export interface McpDoorParts {
  readonly responses: OpenedResponses;
  readonly record: RecordApi;
  /** All agents of the server. Those whose files say so are offered. */
  readonly agents: readonly AgentDefinition[];
  readonly settings: McpDoorSettings;
  readonly clock?: Clock | undefined;
}

export interface McpDoorSettings {
  readonly promptsDir: string | undefined;
  /** How long a call waits for its run, if its client does not say. */
  readonly waitMs: number;
  /** How long questions wait that no client is asked; undefined if they are denied at once. */
  readonly approvalWaitMs: number | undefined;
  /** How long a stream may be silent before a comment is sent to keep it open. */
  readonly keepAliveMs: number;
}

/** JSON-RPC's code for text that is not JSON. */
const PARSE_ERROR = -32_700;
/** The protocol's code for a session that this server did not begin. */
const NO_SESSION = -32_001;

export type McpDoor = (call: RouteCall) => Promise<RouteAnswer>;

export function createMcpDoor(parts: McpDoorParts): McpDoor {
  const { responses, record, agents, settings } = parts;
  const desk: TenantDeskParts = {
    responses,
    record,
    agents: agents.filter((agent) => isOfferedAs("mcp", agent)),
    prompts: createServedPrompts(settings.promptsDir),
  };
  return (call) => answer(parts, desk, call);
}

async function answer(
  parts: McpDoorParts,
  deskParts: TenantDeskParts,
  call: RouteCall,
): Promise<RouteAnswer> {
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

/** A body that is not JSON is refused in the protocol's own form. */
async function readBody(call: RouteCall): Promise<SentMessages | RouteAnswer> {
  let whole: unknown;
  try {
    whole = await call.json();
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (failure.code !== "invalid_request") throw failure;
    return toMcpAnswer(failure, PARSE_ERROR);
  }
  whole = Array.isArray(whole) ? whole.map(fillMessage) : fillMessage(whole);
  const messages = Array.isArray(whole) ? whole : [whole];
  if (messages.length === 0) throw new Failure("invalid_request", "The request has no messages.");
  if (messages.length <= MAX_BATCH) return { whole, messages };
  const message = `A request holds ${messages.length} messages; ${MAX_BATCH} at most are taken.`;
  throw new Failure("invalid_request", message);
}

interface Approving {
  /** True if the person at the client is asked. */
  readonly asks: boolean;
  readonly approvalWaitMs: number | undefined;
}

/** A key that may not approve is not asked: a key that can only read runs must not let one act. */
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

/**
 * The SDK's transport reads the messages and writes the stream. The body was read before, within our own limits.
 */
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
    nameCall,
    runsGoOn: true,
    hurry: call.cutSignal(),
    showQuestions: asks ? toShowQuestions(parts, transport) : undefined,
  });
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  const onLeft = (): void => {
    // A server that stops has told its waiting calls to answer with what they have: that is sent first.
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

/**
 * Handles messages that ask for nothing: a client cancels a call, or a person has answered a form.
 */
async function takeNews(
  parts: McpDoorParts,
  { call, desk, session, messages }: Omit<Exchange, "asks"> & Pick<SentMessages, "messages">,
): Promise<void> {
  for (const message of messages) {
    if (!isJsonObject(message)) continue;
    if (message["method"] === "notifications/cancelled" && session) {
      await takeCancel(message["params"], { desk, session });
    }
    if (message["method"] === undefined) await takeAnswer(parts, call, message);
  }
}

async function takeCancel(
  params: unknown,
  { desk, session }: { readonly desk: TenantDesk; readonly session: HttpSession },
): Promise<void> {
  const { requestId, reason } = isJsonObject(params) ? params : {};
  // A client that waited too long is like one that goes away: its run continues.
  if (!isRequestId(requestId) || isClientTimeout(reason)) return;
  await desk.cancelCall(toCallName(session, requestId));
}

async function takeAnswer(
  { record, settings }: McpDoorParts,
  { caller, scopes }: RouteCall,
  { id, result, error }: JsonObject,
): Promise<void> {
  const place = (result ?? error) === undefined ? undefined : readFormId(id);
  if (!place || !scopes.includes("approve")) return;
  // A client that cannot show the form does not answer for the people elsewhere.
  if (result === undefined && settings.approvalWaitMs !== undefined) return;
  const wish = { ...readForm(result), question: place.question, from: "an MCP client" };
  // Another person answered first, or the time is over. There is no client to tell.
  await record.answer({ tenant: caller.tenant }, place.run, wish).catch(() => {});
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number";
}

/** Fits in the 255 characters that a name may have. */
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

/** A client with another limit than most says so in the address: `/mcp?wait=4`, `/mcp?wait=3600`. */
function toWaitMs({ settings }: McpDoorParts, { query }: RouteCall): number {
  const given = query.get("wait");
  const seconds = given === null || given === "" ? Number.NaN : Number(given);
  return seconds >= 0 ? seconds * 1000 : settings.waitMs;
}

/** Says if the client of an `initialize` request shows forms; undefined for any other message. */
function readElicits(message: unknown): boolean | undefined {
  if (!isJsonObject(message) || message["method"] !== "initialize") return undefined;
  const params = message["params"];
  const capabilities: JsonObject | undefined =
    isJsonObject(params) && isJsonObject(params["capabilities"])
      ? params["capabilities"]
      : undefined;
  return showsForms(capabilities?.["elicitation"]);
}

/** Only the head matters. The guard has checked the host; it is not read here. */
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

/** The sender ends the stream, also if the client has gone. */
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
