/**
 * A stored item as lists show it: with its id and status, its content as parts, and every field that the API promises
 * for its kind. It is stored as the client or the model wrote it; missing fields are only added for show.
 */

import { asJsonObject, isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Annotation, ContentPart } from "../../protocol/content.ts";
import { ITEM_FACTS } from "../../protocol/item-facts.ts";
import type { Item } from "../../protocol/items.ts";
import { toEmittedAnnotation } from "../fold/emitted-item.ts";
import { showItem } from "../fold/show-item.ts";
import { hideSecrets } from "../request/hide-secrets.ts";

export type ShownItem = JsonObject & { readonly id: string; readonly type: string };

/** `include` lists optional fields to show; undefined shows all. */
export function toShownItem(
  item: Item,
  id: string,
  include: ReadonlySet<string> | undefined,
): ShownItem {
  const shown = withoutNulls(showItem(item, include));
  const filled = { ...ITEM_FACTS.get(item.type)?.always, ...shown, id, type: item.type };
  if (item.type === "message") return { ...filled, content: toParts(item.role, shown["content"]) };
  if (item.type === "additional_tools" || item.type === "tool_search_output") {
    return { ...filled, tools: item.tools.map((tool) => hideSecrets(tool) as JsonObject) };
  }
  const output = shown["output"];
  return Array.isArray(output) ? { ...filled, output: output.map(fillPart) } : filled;
}

function toParts(role: string, content: unknown): JsonObject[] {
  if (Array.isArray(content)) return content.map(fillPart);
  const type = role === "assistant" ? "output_text" : "input_text";
  return [fillPart({ type, text: String(content) })];
}

function fillPart(part: ContentPart): JsonObject {
  const shown = withoutNulls(part);
  switch (part.type) {
    case "output_text": {
      const annotations = (part.annotations ?? []).map((cited) => toAnnotation(cited));
      return { ...shown, annotations, logprobs: shown["logprobs"] ?? [] };
    }
    case "input_image":
    case "computer_screenshot":
      return { detail: "auto", image_url: null, file_id: null, ...shown };
    default:
      return shown;
  }
}

function toAnnotation(cited: Annotation): JsonObject {
  return asJsonObject(toEmittedAnnotation(cited));
}

/**
 * Clients may write null for a field that they leave out; the API mostly leaves such a field out.
 */
function withoutNulls(value: unknown): JsonObject {
  const fields = isJsonObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(fields.filter(([, field]) => field !== null && field !== undefined));
}
