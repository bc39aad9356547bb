/**
 * The next request of the playground. Kept while the page is open, so that it is still there after a look at another
 * view.
 */

import { signal } from "@preact/signals";
import { type Fields, saidOf, textOf } from "../run/item-text.ts";

export interface Attached {
  readonly name: string;
  readonly size: number;
  /** The file itself, sent inside the request. */
  readonly url: string;
}

export interface Wish {
  readonly model: string;
  readonly instructions: string;
  readonly prompt: string;
  /** Kinds of tools that the server or the vendor runs. */
  readonly hosted: readonly string[];
  /** The server's own tools, including those that start subagents. */
  readonly own: readonly string[];
  /** Vector stores for `file_search`. */
  readonly stores: readonly string[];
  readonly files: readonly Attached[];
  readonly schema: string;
  readonly effort: string;
  /** Items before the prompt, of a model call that is sent again with a change. */
  readonly given: readonly object[];
  /** The session that the answers become part of. */
  readonly conversation: string;
  /** The response that the first prompt follows. */
  readonly previous: string;
}

const NOTHING: Wish = {
  model: "",
  instructions: "",
  prompt: "",
  hosted: [],
  own: [],
  stores: [],
  files: [],
  schema: "",
  effort: "",
  given: [],
  conversation: "",
  previous: "",
};

export interface Turn {
  readonly prompt: string;
  readonly files: readonly Attached[];
  readonly text: string;
  readonly thinking: string;
  /** Id of the response; empty until the server has named it. */
  readonly id: string;
  readonly calls: readonly TurnCall[];
  /** Tokens, or the failure. */
  readonly note: string;
  readonly failed: boolean;
  readonly isOpen: boolean;
}

export interface TurnCall {
  readonly id: string;
  readonly name: string;
  readonly given: string;
  readonly output: string | undefined;
  readonly failed: boolean;
}

export const wish = signal<Wish>(NOTHING);
export const turns = signal<readonly Turn[]>([]);

export function change(changed: Partial<Wish>): void {
  wish.value = { ...wish.peek(), ...changed };
}

/** Starts again with the same settings. */
export function beginAgain(): void {
  turns.value = [];
  change({ given: [], conversation: "", previous: "" });
}

/**
 * Takes a model call of a run, to send it again: its last prompt is in the box, the items before it stay.
 */
export function takeRequest(request: Fields): void {
  const items = (Array.isArray(request["input"]) ? request["input"] : []) as readonly Fields[];
  const last = items.at(-1);
  const isPrompt = last?.["role"] === "user" && (last["type"] ?? "message") === "message";
  const format = ((request["text"] as Fields | undefined)?.["format"] ?? {}) as Fields;
  turns.value = [];
  wish.value = {
    ...NOTHING,
    model: textOf(request["model"]),
    instructions: textOf(request["instructions"]),
    prompt: isPrompt ? saidOf(last["content"]).text : "",
    given: isPrompt ? items.slice(0, -1) : items,
    schema: format["schema"] ? JSON.stringify(format["schema"], null, 2) : "",
  };
}

/**
 * The body of the request; `before` is the response that it follows. Throws if the schema is not JSON.
 */
export function toBody(asked: Wish, before: string | undefined): object {
  const { model, instructions, prompt, files, schema, effort, given, conversation } = asked;
  const content = [
    { type: "input_text", text: prompt },
    ...files.map(({ name, url }) =>
      url.startsWith("data:image/")
        ? { type: "input_image", image_url: url }
        : { type: "input_file", filename: name, file_data: url },
    ),
  ];
  const message = { role: "user", content };
  const follows = before ?? (asked.previous || undefined);
  return {
    ...(model ? { model } : {}),
    ...(instructions ? { instructions } : {}),
    ...(effort ? { reasoning: { effort } } : {}),
    ...(conversation ? { conversation } : follows ? { previous_response_id: follows } : {}),
    ...toTools(asked),
    ...(schema.trim() ? { text: { format: toFormat(schema) } } : {}),
    input: [...(before ? [] : given), ...(prompt.trim() || files.length > 0 ? [message] : [])],
    stream: true,
    store: true,
  };
}

function toFormat(schema: string): object {
  return { type: "json_schema", name: "answer", schema: JSON.parse(schema) as object };
}

function toTools({ hosted, own, stores }: Wish): object {
  const tools: object[] = hosted.map((type) => toHosted(type, stores));
  if (own.length > 0) {
    const server = { type: "mcp", server_label: "offshoot", require_approval: "never" };
    tools.push({ ...server, allowed_tools: own });
  }
  return tools.length > 0 ? { tools } : {};
}

function toHosted(type: string, stores: readonly string[]): object {
  if (type === "code_interpreter") return { type, container: { type: "auto" } };
  return type === "file_search" ? { type, vector_store_ids: stores } : { type };
}

/** The reason why it cannot be sent; empty if it can. */
export function problemOf({ prompt, files, given, schema, hosted, stores }: Wish): string {
  if (prompt.trim() === "" && files.length === 0 && given.length === 0) return "Write a prompt.";
  if (hosted.includes("file_search") && stores.length === 0) return "Choose a vector store.";
  if (schema.trim() === "") return "";
  try {
    JSON.parse(schema);
    return "";
  } catch (failure) {
    return `The schema is not JSON: ${failure instanceof Error ? failure.message : ""}`;
  }
}
