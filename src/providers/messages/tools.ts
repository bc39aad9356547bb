/** Offered tools and the tool choice, in the form of the Messages API. */

import type { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { WebSearchTool } from "../../protocol/hosted-kinds/web-search.ts";
import { BLOCKS } from "../../protocol/messages-blocks.ts";
import type { FunctionTool, Tool, ToolChoice } from "../../protocol/tools.ts";
import type { ModelRequest } from "../provider.ts";
import { isListed, NATIVE_TOOLS, runKindOf } from "../vendors/native-tools.ts";
import type { NativeRow } from "../wire.ts";
import { toOutputSchema } from "./output-schema.ts";
import type { MessagesTool, MessagesToolChoice } from "./schema.ts";

/** Encodes tools. Tools that only other vendors run are left out; those of this vendor are sent unchanged. */
export function encodeTools(tools: readonly Tool[]): MessagesTool[] {
  const names = new Set<unknown>();
  return tools.flatMap((tool) => {
    if (tool.type === "function") return [encodeFunction(tool)];
    const own = encodeOwn(tool);
    // Two spellings of one tool are the same tool, and a name may be used once.
    if (!own || (own["name"] !== undefined && names.has(own["name"]))) return [];
    names.add(own["name"]);
    return [own as unknown as MessagesTool];
  });
}

/** The tools of the vendor's own API. At Google it has some of the same tools. */
const OWN = NATIVE_TOOLS.anthropic as NativeRow;

function encodeOwn(tool: Tool): JsonObject | undefined {
  const kind = runKindOf(tool.type);
  const as = kind && OWN.runs[kind]?.as;
  if (as !== undefined) return { ...named(as), ...searchFields(tool as WebSearchTool) };
  if (!isListed(tool.type, OWN.types)) return undefined;
  return { ...named(tool.type), ...(tool as unknown as JsonObject) };
}

/** The API requires a fixed name for each of its tools. */
function named(type: string): JsonObject {
  const name = NAMES.find(([form]) => form.test(type))?.[1] ?? type.replace(/_20\d{6}$/, "");
  return type === "mcp_toolset" ? { type } : { type, name };
}

const NAMES: readonly [RegExp, string][] = [
  [/^text_editor_2025(0124|0212|0218)$/, "str_replace_editor"],
  [/^text_editor_/, "str_replace_based_edit_tool"],
];

export function encodeToolChoice({
  tool_choice,
  parallel_tool_calls,
  tools,
}: ModelRequest): MessagesToolChoice {
  const choice = toChoice(tool_choice, tools);
  const isSingle = parallel_tool_calls === false && choice.type !== "none";
  return isSingle ? { ...choice, disable_parallel_tool_use: true } : choice;
}

/** A strict tool has a schema that is reduced like the schema of an answer. */
function encodeFunction(tool: FunctionTool): MessagesTool {
  const { name, description, parameters, strict } = tool;
  const schema = { properties: {}, ...parameters, type: "object" } as const;
  const own = (tool as unknown as JsonObject)[BLOCKS];
  return {
    name,
    ...(description ? { description } : {}),
    ...(strict ? { strict } : {}),
    input_schema: strict ? { ...toOutputSchema(schema as JsonObject), type: "object" } : schema,
    // Further fields from a client of the Messages API.
    ...(isJsonObject(own) ? own : {}),
  };
}

/**
 * Removes `strict` from tools. Some models, platforms and servers cannot enforce it, or not for so many or
 * such large tools.
 */
export function relaxTools(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  const isHeld = request.tools.some((tool) => tool.type === "function" && tool.strict);
  if (!isHeld || failure.code !== "provider_rejected") return undefined;
  if (!/strict|schema|grammar|structured|additionalProperties/i.test(failure.message)) {
    return undefined;
  }
  const tools = request.tools.map((tool) =>
    tool.type === "function" ? { ...tool, strict: false } : tool,
  );
  return { ...request, tools };
}

function searchFields({ filters, user_location }: Partial<WebSearchTool>): JsonObject {
  const { allowed_domains } = filters ?? {};
  return {
    ...(allowed_domains ? { allowed_domains } : {}),
    ...(isJsonObject(user_location)
      ? { user_location: { ...(user_location as JsonObject), type: "approximate" } }
      : {}),
  };
}

function toChoice(choice: ToolChoice, tools: readonly Tool[]): MessagesToolChoice {
  if (choice === "none") return { type: "none" };
  if (choice === "required") return { type: "any" };
  if (typeof choice === "string") return { type: "auto" };
  if (choice.type === "function") return { type: "tool", name: choice.name };
  const kind = runKindOf(choice.type);
  const own = tools.find(({ type }) => type === choice.type || (kind && runKindOf(type) === kind));
  const name = own && encodeOwn(own)?.["name"];
  if (typeof name === "string") return { type: "tool", name };
  const isForced = choice.type === "allowed_tools" && choice.mode === "required";
  return { type: isForced ? "any" : "auto" };
}
