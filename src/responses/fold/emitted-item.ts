/** An item as we send it: with an id and a status, and every field its readers rely on. */

import type { Annotation, Logprob } from "../../protocol/content.ts";
import type {
  EmittedAnnotation,
  EmittedItem,
  EmittedLogprob,
  EmittedMessage,
} from "../../protocol/emitted.ts";
import type { Item, Message, Reasoning } from "../../protocol/items.ts";
import { showItem } from "./show-item.ts";

interface Known {
  readonly runId: string;
  readonly outputIndex: number;
  /** For items that do not say it themselves. */
  readonly status: "in_progress" | "completed";
  /** What the client asked to see; undefined shows everything. */
  readonly include?: ReadonlySet<string> | undefined;
}

const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  reasoning: "rs",
  web_search_call: "ws",
  file_search_call: "fs",
  code_interpreter_call: "ci",
  image_generation_call: "ig",
  computer_call: "cu",
  mcp_call: "mcp",
  mcp_list_tools: "mcpl",
  mcp_approval_request: "mcpr",
  local_shell_call: "lsh",
  shell_call: "sh",
  shell_call_output: "sho",
  apply_patch_call: "apc",
  apply_patch_call_output: "apco",
  tool_search_call: "tsc",
  tool_search_output: "tso",
  compaction: "cmp",
  multi_agent_call: "mac",
  multi_agent_call_output: "maco",
  agent_message: "amsg",
};

/** The beginning of an item's id: `msg` for messages. */
export function idPrefixOf(type: string): string {
  // Types come from clients: `constructor` must not find what every object has.
  return (Object.hasOwn(PREFIXES, type) && PREFIXES[type]) || "item";
}

/**
 * `id` keeps the one an item began with: there are servers that change it on the way. Without one,
 * it is made of the run's id and the place, so that a replay of the log makes the same.
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
  const run = runId.startsWith("run_") ? runId.slice(4) : runId;
  // That of a subagent is below that of its parent.
  const place = run.includes("/") ? run.replaceAll("/", "_") : run;
  return `${idPrefixOf(type)}_${place}_${outputIndex}`;
}

/** Fills in a copy: see `response-object.ts` for what overwriting a spread costs. */
function withStatus(
  copy: { id?: unknown; status?: unknown },
  id: string,
  status: Known["status"],
): EmittedItem {
  copy.id = id;
  copy.status ??= status;
  return copy as EmittedItem;
}

/** Some servers write null where they have nothing; readers of a thought count on a list, or on no field. */
function withoutNulls(thought: Reasoning & { id: string }): EmittedItem {
  if (thought.content !== null && thought.status !== null) return thought as EmittedItem;
  const { content, status, ...rest } = thought;
  return { ...rest, ...(content && { content }), ...(status && { status }) };
}

/** Adds what else an item or a part has: vendors give more than is published. */
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

/** Not every vendor gives the bytes of a token, or what else was likely; readers count on both. */
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

/** Some vendors cite without saying where or under which title; readers count on both. */
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
