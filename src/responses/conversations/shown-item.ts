/**
 * A kept item as lists show it: with its id and status, its content as parts, and every field that the
 * API promises of its kind. It is kept as the client or the model wrote it; only what is shown is filled up.
 */

import type { JsonObject } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { Annotation, ContentPart } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import { toEmittedAnnotation } from "../fold/emitted-item.ts";
import { showItem } from "../fold/show-item.ts";
import { hideSecrets } from "../request/hide-secrets.ts";

export type ShownItem = JsonObject & { readonly id: string; readonly type: string };

/** `include` is what the client asked to see; undefined shows everything. */
export function toShownItem(
  item: Item,
  id: string,
  include: ReadonlySet<string> | undefined,
): ShownItem {
  const shown = withoutNulls(showItem(item, include));
  const filled = { ...FILLING[item.type], ...shown, id, type: item.type };
  if (item.type === "message") return { ...filled, content: toParts(item.role, shown["content"]) };
  if (item.type === "additional_tools" || item.type === "tool_search_output") {
    return { ...filled, tools: item.tools.map((tool) => hideSecrets(tool) as JsonObject) };
  }
  const output = shown["output"];
  return Array.isArray(output) ? { ...filled, output: output.map(fillPart) } : filled;
}

const DONE = { status: "completed" };

/** What each kind always has, for items that do not say it. Other kinds are shown as they are. */
const FILLING: Readonly<Record<string, JsonObject>> = {
  message: DONE,
  function_call: DONE,
  function_call_output: DONE,
  custom_tool_call: DONE,
  custom_tool_call_output: DONE,
  file_search_call: { ...DONE, results: null },
  web_search_call: DONE,
  image_generation_call: { ...DONE, result: null },
  computer_call: { ...DONE, pending_safety_checks: [] },
  computer_call_output: DONE,
  tool_search_call: { ...DONE, call_id: null, execution: "server" },
  tool_search_output: { ...DONE, call_id: null, execution: "server" },
  program: { fingerprint: "" },
  program_output: DONE,
  code_interpreter_call: { ...DONE, code: null, container_id: "", outputs: null },
  local_shell_call: DONE,
  local_shell_call_output: DONE,
  shell_call: { ...DONE, environment: null },
  shell_call_output: { ...DONE, max_output_length: null },
  apply_patch_call: DONE,
  apply_patch_call_output: DONE,
  mcp_call: DONE,
};

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
  return toEmittedAnnotation(cited) as unknown as JsonObject;
}

/** Clients may write null for what they leave out; the API shows most of that by leaving it out. */
function withoutNulls(value: unknown): JsonObject {
  const fields = isJsonObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(fields.filter(([, field]) => field !== null && field !== undefined));
}
