/**
 * The order of recorded streams, as rules over the whole list of events. Every rule describes an error in
 * words; a stream that obeys all of them has none.
 */

import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { CALL_EVENTS, WRITINGS } from "../../src/responses/fold/call-events.ts";

export interface StreamHistory {
  /** True if another process took the run over: abandoned items are in the stream and not in the output. */
  readonly takenOver?: boolean | undefined;
}

export function findOrderFaults(
  events: readonly JsonObject[],
  { takenOver = false }: StreamHistory = {},
): string[] {
  const items = groupByItem(events);
  return [
    ...numberFaults(events),
    ...lifecycleFaults(events),
    ...placeFaults(events),
    ...items.flatMap(itemFaults),
    ...outputFaults(events, takenOver),
  ];
}

const typeOf = ({ type }: JsonObject): string => String(type);

function numberFaults(events: readonly JsonObject[]): string[] {
  const wrong = events.findIndex(({ sequence_number }, at) => sequence_number !== at);
  return wrong < 0 ? [] : [`event ${wrong} has the number ${events[wrong]?.["sequence_number"]}`];
}

/** The statuses that a response may have, by the type of the last event. */
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  "response.completed": ["completed"],
  "response.failed": ["failed"],
  // The API has no event of its own for a cancelled response.
  "response.incomplete": ["incomplete", "cancelled"],
};

const LIFECYCLE = /^response\.(created|queued|in_progress|completed|failed|incomplete)$/;

function lifecycleFaults(events: readonly JsonObject[]): string[] {
  const types = events.map(typeOf);
  const faults: string[] = [];
  const shape = types.filter((type) => LIFECYCLE.test(type)).join(" ");
  if (!/^response\.created( response\.queued)?( response\.in_progress)? \S+$/.test(shape))
    faults.push(`the response goes: ${shape}`);
  const last = events.at(-1) ?? {};
  const statuses = ENDINGS[typeOf(last)];
  if (!statuses) faults.push(`the last event is ${typeOf(last)}`);
  if (types[0] !== "response.created") faults.push(`the first event is ${types[0]}`);
  if (types.filter((type) => type in ENDINGS).length !== 1) faults.push("not one ending");
  const error = types.indexOf("error");
  if (error >= 0 && (error !== types.length - 2 || typeOf(last) !== "response.failed"))
    faults.push("`error` is not right before `response.failed`");
  const status = String(responseOf(last)?.["status"]);
  if (statuses && !statuses.includes(status)) faults.push(`${typeOf(last)} has status ${status}`);
  return [...faults, ...sameResponseFaults(events)];
}

/** All events belong to one response, whose output is empty when it begins. */
function sameResponseFaults(events: readonly JsonObject[]): string[] {
  const responses = events.flatMap((event): JsonObject[] => {
    const response = responseOf(event);
    return response ? [response] : [];
  });
  const faults: string[] = [];
  if (new Set(responses.map(({ id }) => id)).size > 1) faults.push("the response's id changes");
  if (new Set(responses.map(({ created_at }) => created_at)).size > 1)
    faults.push("`created_at` changes");
  for (const { status, output } of responses.slice(0, -1)) {
    if (status !== "queued" && status !== "in_progress")
      faults.push(`a response that has not ended has the status ${status}`);
    if (!isDeepStrictEqual(output, [])) faults.push("a response begins with output");
  }
  return faults;
}

function responseOf({ response }: JsonObject): JsonObject | undefined {
  return isJsonObject(response) ? response : undefined;
}

function itemOf({ item }: JsonObject | undefined = {}): JsonObject {
  return isJsonObject(item) ? item : {};
}

/** Items are added at the indexes 0, 1, 2 and so on. */
function placeFaults(events: readonly JsonObject[]): string[] {
  const places = events
    .filter((event) => typeOf(event) === "response.output_item.added")
    .map(({ output_index }) => output_index);
  const isInOrder = places.every((place, at) => place === at);
  return isInOrder ? [] : [`items are added at ${places.join(", ")}`];
}

interface ItemEvents {
  readonly place: Json;
  readonly events: readonly JsonObject[];
}

function groupByItem(events: readonly JsonObject[]): ItemEvents[] {
  const placed = events.filter(({ output_index }) => output_index !== undefined);
  return [...groupBy(placed, "output_index")].map(([place, own]) => ({ place, events: own }));
}

function groupBy(events: readonly JsonObject[], field: string): Map<Json, JsonObject[]> {
  const groups = new Map<Json, JsonObject[]>();
  for (const event of events) {
    const key = event[field] ?? null;
    groups.set(key, [...(groups.get(key) ?? []), event]);
  }
  return groups;
}

function itemFaults({ place, events }: ItemEvents): string[] {
  const types = events.map(typeOf);
  const faults: string[] = [];
  const count = (type: string): number => types.filter((one) => one === type).length;
  if (types[0] !== "response.output_item.added" || count("response.output_item.added") !== 1)
    faults.push("does not begin with one `added`");
  if (types.at(-1) !== "response.output_item.done" || count("response.output_item.done") !== 1)
    faults.push("does not end with one `done`");
  const added = itemOf(events[0]);
  const done = itemOf(events.at(-1));
  if (added["id"] !== done["id"])
    faults.push(`changes its id from ${added["id"]} to ${done["id"]}`);
  if (added["type"] !== done["type"]) faults.push("changes its type");
  if (done["status"] === "in_progress") faults.push("is done and in progress");
  const stray = events.find(({ item_id }) => item_id !== undefined && item_id !== added["id"]);
  if (stray) faults.push(`has an event of another item: ${stray["item_id"]}`);
  const told = [...faults, ...partFaults(events, done), ...writingFaults(events, done)];
  return [...told, ...progressFaults(types, done)].map((fault) => `item ${place} ${fault}`);
}

/** The events of an item's parts: those that open, fill and close them. */
interface PartWords {
  readonly index: "content_index" | "summary_index";
  readonly part: string;
  /** The field of the item with the parts. */
  readonly field: "content" | "summary";
  readonly texts: readonly string[];
}

const PARTS: readonly PartWords[] = [
  {
    index: "content_index",
    part: "response.content_part",
    field: "content",
    texts: ["response.output_text", "response.refusal", "response.reasoning_text"],
  },
  {
    index: "summary_index",
    part: "response.reasoning_summary_part",
    field: "summary",
    texts: ["response.reasoning_summary_text"],
  },
];

function partFaults(events: readonly JsonObject[], done: JsonObject): string[] {
  return PARTS.flatMap((words) => {
    const own = events.filter((event) => event[words.index] !== undefined);
    const groups = groupBy(own, words.index);
    const faults = [...groups].flatMap(([at, told]) =>
      onePartFaults(told, words).map((fault) => `has a part ${at} that ${fault}`),
    );
    const parts = [...groups.values()].map((told) => told.at(-1)?.["part"]);
    const held = done[words.field];
    // Other items come whole, with their contents.
    const isTold = done["type"] === "message" || done["type"] === "reasoning";
    const isWhole = !isTold || !Array.isArray(held) || isDeepStrictEqual(parts, held);
    return isWhole ? faults : [...faults, `has other parts in \`${words.field}\` than were told`];
  });
}

function onePartFaults(events: readonly JsonObject[], words: PartWords): string[] {
  const types = events.map(typeOf);
  const text = words.texts.find((one) => types.includes(`${one}.done`));
  if (!text) return ["has no text"];
  const inside = types.slice(1, -2);
  const allowed = [`${text}.delta`, `${text}.annotation.added`];
  const faults: string[] = [];
  if (types[0] !== `${words.part}.added`) faults.push(`begins with ${types[0]}`);
  if (types.at(-2) !== `${text}.done` || types.at(-1) !== `${words.part}.done`)
    faults.push(`ends with ${types.slice(-2).join(", ")}`);
  const stray = inside.find((type) => !allowed.includes(type));
  if (stray) faults.push(`has ${stray} inside`);
  const whole = textIn(events.at(-2));
  if (joinDeltas(events) !== whole && joinDeltas(events) !== "")
    faults.push(`is \`${joinDeltas(events)}\` in pieces and \`${whole}\` whole`);
  if (textIn(events.at(-1)?.["part"]) !== whole) faults.push("ends in another text");
  return faults;
}

function joinDeltas(events: readonly JsonObject[]): string {
  return events.map(({ delta }) => (typeof delta === "string" ? delta : "")).join("");
}

function textIn(value: Json | undefined): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const text = value["text"] ?? value["refusal"];
  return typeof text === "string" ? text : undefined;
}

/** The text that a model writes into a call: in pieces, then whole, then in the item. */
function writingFaults(events: readonly JsonObject[], done: JsonObject): string[] {
  const words = WRITINGS[String(done["type"])];
  if (!words) return [];
  const pieces = events.filter((event) => typeOf(event) === words.delta);
  const wholes = events.filter((event) => typeOf(event) === words.done);
  const held = done[words.field] ?? "";
  if (wholes.length !== 1) return [`has ${wholes.length} of ${words.done}`];
  const faults: string[] = [];
  if (wholes[0]?.[words.field] !== held)
    faults.push(`has another \`${words.field}\` than was told`);
  if (pieces.length > 0 && joinDeltas(pieces) !== held)
    faults.push(`is \`${joinDeltas(pieces)}\` in pieces and \`${held}\` whole`);
  const order = events.map(typeOf);
  if (order.lastIndexOf(words.delta) > order.indexOf(words.done))
    faults.push(`continues after ${words.done}`);
  return faults;
}

/** The steps of a call that a server makes come in their order, and end like the item. */
function progressFaults(types: readonly string[], done: JsonObject): string[] {
  const words = CALL_EVENTS[String(done["type"])];
  if (!words) return [];
  const order = [words.begun, words.running, words.done, words.failed];
  const steps = types.filter((type) => order.includes(type));
  const places = steps.map((step) => order.indexOf(step));
  const isInOrder = places.every((place, at) => at === 0 || place > (places[at - 1] ?? -1));
  if (!isInOrder) return [`goes ${steps.join(", ")}`];
  const isEnded = steps.some((step) => step === words.done || step === words.failed);
  const isWhole = done["status"] === "completed" || done["status"] === undefined;
  return isWhole && !isEnded ? [`is completed and was not told so: ${steps.join(", ")}`] : [];
}

/** The response ends with the finished items, in their order. */
function outputFaults(events: readonly JsonObject[], takenOver: boolean): string[] {
  const done = events.filter((event) => typeOf(event) === "response.output_item.done");
  const items = done
    .toSorted((a, b) => Number(a["output_index"]) - Number(b["output_index"]))
    .map(itemOf);
  const output = responseOf(events.at(-1) ?? {})?.["output"];
  const kept = takenOver && Array.isArray(output) ? output : items;
  const told = items.filter((item) => kept.some((one) => isDeepStrictEqual(one, item)));
  if (isDeepStrictEqual(output, told)) return [];
  return [`ends with another output than was told: ${JSON.stringify(output)?.slice(0, 300)}`];
}
