/**
 * Invariants of every answer, whatever a server sent: events of the promised types, or a `Failure`; and the
 * events can be turned into everything that is made of them: the events and objects of the Responses API
 * and of chat, and the history of the next request.
 */

import { writeConversation } from "../../../src/agent/context/conversation-text.ts";
import { Failure } from "../../../src/base/failure.ts";
import { isJsonObject, type JsonObject } from "../../../src/base/json.ts";
import { Annotation, Logprob } from "../../../src/protocol/content.ts";
import type { EmittedEvent } from "../../../src/protocol/emitted.ts";
import { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { ResponseEvent } from "../../../src/protocol/response-events.ts";
import type { RunEvent, RunStart } from "../../../src/protocol/run-events.ts";
import { chatWire } from "../../../src/providers/chat/wire.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import type { Quirks, Wire } from "../../../src/providers/wire.ts";
import { openBridge } from "../../../src/responses/bridge/bridge.ts";
import { createCitations } from "../../../src/responses/bridge/citations.ts";
import { NOT_NATIVE } from "../../../src/responses/bridge/native.ts";
import { createChatWriter } from "../../../src/responses/chat/chat-writer.ts";
import { toShownItem } from "../../../src/responses/conversations/shown-item.ts";
import { toEmittedLogprobs } from "../../../src/responses/fold/emitted-item.ts";
import { createEventWriter } from "../../../src/responses/fold/event-writer.ts";
import { collectTools } from "../../../src/responses/kinds/collect-tools.ts";
import { createFileSearchKind } from "../../../src/responses/kinds/file-search.ts";
import { createWebSearchKind } from "../../../src/responses/kinds/web-search.ts";
import { parseAsked } from "../../../src/responses/request/asked-response.ts";
import { toEcho } from "../../../src/responses/request/echo.ts";
import { encodeResponseSettings } from "../../../src/responses/request/response-settings.ts";
import { createKinds } from "../../../src/responses/run/response-kinds.ts";
import { runEnd, runStart, turn } from "../../responses/logged-run.ts";
import { assertEventOrder } from "../event-order.ts";

/** How an answer was requested. */
export interface Asking {
  readonly name: string;
  readonly wire: Wire;
  readonly request: ModelRequest;
  readonly quirks: Quirks;
}

export interface Answer {
  readonly events: readonly ModelEvent[];
  /** The events as JSON. */
  readonly texts: readonly string[];
  readonly failure: Failure | undefined;
}

/** Rejects with any other error. */
export function readAnswer({ wire, request, quirks }: Asking, lines: readonly string[]): Answer {
  const decoder = wire.decoder(request, quirks);
  const events: ModelEvent[] = [];
  let failure: Failure | undefined;
  try {
    for (const line of lines) decoder.read(line, events);
    decoder.end(events);
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    failure = thrown;
  }
  return { events, texts: events.map((event) => JSON.stringify(event)), failure };
}

/** Rejects with the problem, or with an error that should not have been thrown. */
export function checkAnswer(answer: Answer, asking: Asking): void {
  const { events, texts, failure } = answer;
  refuseText("the failure", failure?.message ?? "");
  if (!failure) assertEventOrder(events);
  for (const [at, event] of events.entries()) once(texts[at] ?? "", () => checkEvent(event));
  checkWritten(write(answer, STARTS[turns++ % STARTS.length] ?? runStart()));
  const items = events.flatMap((event) => (event.type === "item_end" ? [event.item] : []));
  once(JSON.stringify([asking.name, ...items]), () => checkHistory(items, asking));
}

/** Clients that ask for everything and for nothing take turns. */
let turns = 0;

const sound = new Set<string>();

/** As many texts as fit into some megabytes. */
const MAX_SOUND = 20_000;

/** Most of a changed answer is unchanged, so a text that was checked once is not checked again. */
function once(text: string, check: () => void): void {
  if (sound.has(text)) return;
  refuseText("an event", text);
  check();
  if (sound.size === MAX_SOUND) sound.clear();
  sound.add(text);
}

/** The text of a value that is not a string, if one is made of it: the whole text, or a part of an id. */
const NO_TEXT = /\[object Object\]|"(?:\w*[_:])?(?:undefined|NaN)(?:_\w*)?"/;

function refuseText(where: string, text: string): void {
  const found = NO_TEXT.exec(text);
  if (!found) return;
  const near = text.slice(Math.max(0, found.index - 80), found.index + 40);
  throw new Error(`${found[0]} in ${where}: …${near}`);
}

function checkEvent(event: ModelEvent): void {
  switch (event.type) {
    case "start":
      return refuse(!isText(event.response_id) || !isText(event.model), event);
    case "item_start":
    case "item_end":
      return checkSchema(Item, event.item);
    case "annotation":
      return checkSchema(Annotation, event.annotation);
    case "end":
      return refuse(!countsOf(event.usage).every(isCount), event);
    case "opaque":
      return checkSchema(ResponseEvent, event.event);
    default:
      refuse(!isText(event.delta), event);
      if ("logprobs" in event) {
        for (const one of toEmittedLogprobs(event.logprobs ?? [])) checkSchema(Logprob, one);
      }
  }
}

interface Schema {
  safeParse(value: unknown): { readonly error?: { readonly issues: readonly Issue[] } | undefined };
}

interface Issue {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

function checkSchema(schema: Schema, value: object): void {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  if (!issue) return;
  throw new Error(`${issue.path.join(".")}: ${issue.message} in ${JSON.stringify(value)}`);
}

function refuse(isWrong: boolean, event: ModelEvent): void {
  if (isWrong) throw new Error(`Of another type: ${JSON.stringify(event)}`);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isCount(value: unknown): boolean {
  return Number.isFinite(value) && Number(value) >= 0;
}

/** All numbers of a usage, including its details. */
function countsOf(usage: object): unknown[] {
  return Object.values(usage).flatMap((one) => (isJsonObject(one) ? Object.values(one) : [one]));
}

/** The requests of a client that asks for nothing extra, and of one that asks for everything. */
const STARTS = [
  [],
  [
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.output_text.logprobs",
    "message.input_image.image_url",
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "reasoning.encrypted_content",
  ],
].map((include) => {
  const asked = parseAsked({ input: "Hi", reasoning: { summary: "auto" } }, { store: true });
  const echo = toEcho(asked, { instructions: null, model: "m" });
  return runStart({ response: encodeResponseSettings({ echo, include, ignored: [] }) });
});

/** The answer as a client of the server gets it. */
function write({ events, failure }: Answer, start: RunStart): EmittedEvent[] {
  const end = failure
    ? runEnd({ ending: "failed", error: { code: failure.code, message: failure.message } })
    : runEnd();
  const log: RunEvent[] = [start, ...turn(1, ...events), end];
  const writer = createEventWriter();
  const out: EmittedEvent[] = [];
  for (const event of log) writer.write(event, out);
  return out;
}

function checkWritten(events: readonly EmittedEvent[]): void {
  const chat = createChatWriter({ model: "m", includeUsage: true });
  for (const event of events) {
    // Its items have events of their own.
    const isWhole = "response" in event;
    if (!isWhole) once(JSON.stringify(event), () => checkSchema(ResponseEvent, event));
    for (const chunk of chat.write(event)) refuseText("a chunk", chunk);
  }
  refuseText("the response", JSON.stringify(events.at(-1)));
  if (!chat.isBroken()) refuseText("the completion", JSON.stringify(chat.completion()));
}

const searching = [
  createWebSearchKind({ tools: async () => ({ search: undefined, open: undefined }) }),
  // It is never opened here, because it only reads items.
  createFileSearchKind(undefined as never),
];

const bridge = await openBridge({
  tools: [],
  kinds: createKinds({ search: searching }),
  native: NOT_NATIVE,
  request: {
    tenant: "t",
    runId: "run_1",
    include: new Set(),
    catalogue: [],
    signal: new AbortController().signal,
  },
});

/** The answer as part of the next request: to the same vendor, to another one, and to a summary. */
function checkHistory(said: readonly Item[], { wire, request, quirks }: Asking): void {
  const items = [...request.items, ...said];
  const other = bridge.toHistory(items);
  for (const item of other) checkSchema(Item, item);
  encode(chatWire, { ...request, items: other }, {});
  encode(wire, { ...request, items }, quirks);
  createCitations(items);
  collectTools(items, []);
  refuseText("the conversation", writeConversation(items, 100_000));
  for (const item of said) toShownItem(item, "item_1", undefined);
}

/** An encoder may refuse what it cannot express. */
function encode(wire: Wire, request: ModelRequest, quirks: Quirks): void {
  try {
    const body: JsonObject = wire.encode(request, quirks);
    refuseText("the next request", JSON.stringify(body));
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
  }
}
