/** What of an item a client sees: some fields only come when they are asked for (`include`). */

import type { Item } from "../../protocol/items.ts";

/** Everything, where `include` is undefined. */
export function showItem(item: Item, include: ReadonlySet<string> | undefined): Item {
  if (!include) return item;
  switch (item.type) {
    case "reasoning":
      return include.has(SEAL) ? item : without(item, "encrypted_content");
    case "file_search_call":
      return include.has("file_search_call.results") ? item : { ...item, results: null };
    case "code_interpreter_call":
      return showCode(item);
    case "web_search_call":
      return showSearch(item, include);
    case "message":
      return showMessage(item, include);
    case "computer_call_output":
      return include.has("computer_call_output.output.image_url")
        ? item
        : { ...item, output: without(item.output, "image_url") };
    default:
      return item;
  }
}

/**
 * A model's thoughts as their summary, where a client asked for one and the model gives none: clients that
 * know one vendor's API look nowhere else.
 */
export function toSummarised(item: Item): Item {
  if (item.type !== "reasoning" || item.summary.length > 0 || !item.content?.length) return item;
  const summary = item.content.map(({ text }) => ({ type: "summary_text" as const, text }));
  return { ...item, summary, content: [] };
}

/** The value of `include` that asks for sealed thoughts. */
export const SEAL = "reasoning.encrypted_content";

/** Whether a client wants thoughts that it can send back: a server that nobody knows is then asked, too. */
export function asksForSeal(include: readonly string[] | null | undefined): boolean {
  return include?.includes(SEAL) ?? false;
}

/** The value of `include` that asks how likely the tokens of a text were. */
export const LIKELY = "message.output_text.logprobs";

/** Not every vendor seals what its models think; a client that asked for it is told. */
export function lacksSeal(item: Item): boolean {
  return item.type === "reasoning" && !item.encrypted_content;
}

type Of<Type extends Item["type"]> = Extract<Item, { type: Type }>;

function showSearch(item: Of<"web_search_call">, include: ReadonlySet<string>): Item {
  const { results: _, ...rest } = item as Of<"web_search_call"> & { results?: unknown };
  const shown = include.has("web_search_call.results") ? item : rest;
  if (!item.action || include.has("web_search_call.action.sources")) return shown;
  return { ...shown, action: without(item.action, "sources") };
}

/**
 * What came of it, and the files it has written. The published API shows the outputs to those who ask alone
 * (`code_interpreter_call.outputs`), another document of it always: nobody fails at them. Its `file` among
 * the outputs is a kind that clients of the published API do fail at, so files stand beside them.
 */
function showCode(item: Of<"code_interpreter_call">): Item {
  const { files, ...shown } = item as Of<"code_interpreter_call"> & { files?: unknown };
  const outputs = shown.outputs?.map(withBothNames) ?? null;
  const written: readonly unknown[] = Array.isArray(files) ? files : [];
  if (written.length === 0) return { ...shown, outputs };
  const entries = written.map((file) => ({ type: "file", ...(file as object) }));
  return { ...shown, outputs, files: entries } as Item;
}

type CodeOutput = NonNullable<Of<"code_interpreter_call">["outputs"]>[number];

/** The address of an image is `url` for clients of the published API and `image_url` for others. */
function withBothNames(output: CodeOutput): CodeOutput {
  const address = output.url ?? output.image_url;
  if (output.type !== "image" || address === undefined) return output;
  return { ...output, url: address, image_url: address };
}

/** Images that a user sent, and how likely a model's words were. */
function showMessage(item: Of<"message">, include: ReadonlySet<string>): Item {
  const { content } = item;
  if (typeof content === "string") return item;
  const hidesImages = !include.has("message.input_image.image_url");
  const hidesLogprobs = !include.has(LIKELY);
  const isPlain = content.every((part) => part.type === "output_text" && !part.logprobs?.length);
  if (isPlain) return item;
  return {
    ...item,
    content: content.map((part) => {
      if (part.type === "input_image" && hidesImages) return { ...part, image_url: null };
      return part.type === "output_text" && hidesLogprobs ? { ...part, logprobs: [] } : part;
    }),
  };
}

function without<Value extends object, Key extends keyof Value>(
  value: Value,
  key: Key,
): Omit<Value, Key> & { [K in Key]: never } {
  const { [key]: _, ...rest } = value;
  return rest as Omit<Value, Key> & { [K in Key]: never };
}
