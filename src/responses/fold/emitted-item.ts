/**
 * Completes an item for sending: with an id and a status, and every field that its readers rely on.
 */

import type { Annotation, Logprob } from "../../protocol/content.ts";
import type {
  EmittedAnnotation,
  EmittedItem,
  EmittedLogprob,
  EmittedMessage,
} from "../../protocol/emitted.ts";
import { ITEM_FACTS } from "../../protocol/item-facts.ts";
import type { Item, Message, Reasoning } from "../../protocol/items.ts";
import { showItem } from "./show-item.ts";

interface Known {
  readonly runId: string;
  readonly outputIndex: number;
  /** For items without a status of their own. */
  readonly status: "in_progress" | "completed";
  /** The optional fields that the client asked for; undefined shows all. */
  readonly include?: ReadonlySet<string> | undefined;
}

/** The prefix of an item's id: `msg` for messages. */
export function idPrefixOf(type: string): string {
  return ITEM_FACTS.get(type)?.idPrefix ?? "item";
}

/**
 * `id` keeps the id that an item began with: some servers change it on the way. Without one, it is made from the
 * run's id and the item's place, so that a replay of the log makes the same.
 */
export function toEmittedItem(item: Item, known: Known, id?: string): EmittedItem {
  const own = "id" in item && typeof item.id === "string" && item.id !== "" ? item.id : undefined;
  const shown = showItem(item, known.include);
  const named = id || own || makeItemId(item.type, known);
  switch (shown.type) {
    case "message":
      return toMessage(shown, named, known.status);
    case "function_call":
    case "custom_tool_call":
    case "function_call_output":
      return withStatus({ ...shown }, named, known.status);
    case "reasoning":
      return withoutNulls({ ...shown, id: named });
    default:
      return { ...shown, id: named } as EmittedItem;
  }
}

function makeItemId(type: string, { runId, outputIndex }: Known): string {
  return `${idPrefixOf(type)}_${toPlace(runId)}_${outputIndex}`;
}

/** The id of an item that a client sent without one, by its place in the input. */
export function toInputId(type: string, runId: string, at: number): string {
  return `${idPrefixOf(type)}_${toPlace(runId)}_in${at}`;
}

/** The id of the run whose output or input an item is, by the item's id; undefined for ids of another form. */
export function toRunOfItem(id: string): string | undefined {
  const run = /^[a-z]+_([0-9a-z]{26})_(?:in)?\d+$/.exec(id)?.[1];
  return run && `run_${run}`;
}

function toPlace(runId: string): string {
  const run = runId.startsWith("run_") ? runId.slice(4) : runId;
  // The id of a subagent's run is below that of its parent.
  return run.includes("/") ? run.replaceAll("/", "_") : run;
}

/** Fills in a copy: see `response-object.ts` for the cost of overwriting a spread. */
function withStatus(
  copy: { id?: unknown; status?: unknown },
  id: string,
  status: Known["status"],
): EmittedItem {
  copy.id = id;
  copy.status ??= status;
  return copy as EmittedItem;
}

/** Some servers write null for nothing. Readers of a thought expect a list, or no field. */
function withoutNulls(thought: Reasoning & { id: string }): EmittedItem {
  if (thought.content !== null && thought.status !== null) return thought as EmittedItem;
  const { content, status, ...rest } = thought;
  return { ...rest, ...(content && { content }), ...(status && { status }) };
}

/** Copies the other fields of an item or a part: vendors send more than is published. */
function addRest<Shown extends object>(shown: Shown, from: object): Shown {
  const target = shown as Record<string, unknown>;
  for (const name in from) {
    if (!(name in target)) target[name] = (from as Record<string, unknown>)[name];
  }
  return shown;
}

function toMessage(message: Message, id: string, status: Known["status"]): EmittedMessage {
  const { content } = message;
  const parts =
    typeof content === "string" ? [{ type: "output_text" as const, text: content }] : content;
  const shown: EmittedMessage = {
    type: "message",
    id,
    status: message.status ?? status,
    role: "assistant",
    content: parts.map(toPart) as EmittedMessage["content"],
  };
  return addRest(shown, message);
}

function toPart(part: Exclude<Message["content"], string>[number]): object {
  if (part.type !== "output_text") return part;
  const shown = {
    type: "output_text",
    text: part.text,
    annotations: (part.annotations ?? []).map(toEmittedAnnotation),
    logprobs: toEmittedLogprobs(part.logprobs ?? []),
  };
  return addRest(shown, part);
}

/** Not every vendor sends the bytes of a token or its alternatives; readers rely on both. */
export function toEmittedLogprobs(logprobs: readonly Logprob[]): EmittedLogprob[] {
  return logprobs.map((given) => ({
    ...given,
    bytes: given.bytes ?? [],
    top_logprobs: (given.top_logprobs ?? []).map((other) => ({
      ...other,
      token: other.token ?? "",
      logprob: other.logprob ?? 0,
      bytes: other.bytes ?? [],
    })),
  }));
}

/** Some vendors cite without a place or a title; readers rely on both. */
export function toEmittedAnnotation(annotation: Annotation): EmittedAnnotation {
  const span = { start_index: annotation.start_index ?? 0, end_index: annotation.end_index ?? 0 };
  switch (annotation.type) {
    case "url_citation":
      return { ...annotation, ...span, title: annotation.title ?? "" };
    case "file_citation":
      return { ...annotation, filename: annotation.filename ?? "", index: annotation.index ?? 0 };
    case "container_file_citation":
      return { ...annotation, ...span, filename: annotation.filename ?? "" };
    case "file_path":
      return { ...annotation, index: annotation.index ?? 0 };
    default:
      return annotation;
  }
}
