/**
 * `custom`: a tool that takes free text. Models that know only functions are offered one with a single text, `input`;
 * the client sees the text, never the JSON around it.
 */

import { tryParseJson } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import type { CustomTool, Tool } from "../../protocol/tools.ts";
import type { Offer, ToolKind } from "./tool-kind.ts";

export const CUSTOM_KIND: ToolKind = {
  toolTypes: ["custom"],
  itemTypes: ["custom_tool_call", "custom_tool_call_output"],
  open: async (tool: Tool) => ({ offers: [toCustomOffer(tool as CustomTool)] }),
  keyOf: (item) =>
    item.type === "custom_tool_call" ? toKey(item.name, item.namespace) : undefined,
  toFunctions(item, nameOf) {
    if (item.type === "custom_tool_call") {
      const { call_id, name, input, namespace } = item;
      return [
        {
          type: "function_call",
          call_id,
          name: nameOf(toKey(name, namespace)),
          arguments: JSON.stringify({ input }),
        },
      ];
    }
    if (item.type !== "custom_tool_call_output") return [];
    const { call_id, output } = item;
    return [{ type: "function_call_output", call_id, output }];
  },
};

/** `namespace` is the one that the tool belongs to, if any. */
export function toCustomOffer(tool: CustomTool, namespace?: string): Offer {
  const { name } = tool;
  return {
    key: toKey(name, namespace),
    spec: {
      type: "function",
      name: toKey(name, namespace),
      description: [tool.description, describeFormat(tool)].filter(Boolean).join("\n\n"),
      parameters: INPUT_PARAMETERS,
      strict: false,
    },
    deferred: tool.defer_loading ? tool : undefined,
    isMeantBy: (choice) => choice["type"] === "custom" && choice["name"] === name,
    shows: { field: "input" },
    toItem(call): Item {
      const { call_id, arguments: text, id } = call;
      return {
        type: "custom_tool_call",
        ...(id ? { id } : {}),
        call_id,
        name,
        input: readInput(text),
        ...(namespace === undefined ? {} : { namespace }),
      };
    },
  };
}

function toKey(name: string, namespace?: string | null): string {
  return namespace ? `${namespace}__${name}` : name;
}

const INPUT_PARAMETERS = {
  type: "object",
  properties: {
    input: { type: "string", description: "The whole input, as plain text and not as JSON." },
  },
  required: ["input"],
  additionalProperties: false,
};

/** A provider that knows grammars enforces it; other models read it as a description. */
function describeFormat({ format }: CustomTool): string {
  if (format?.type !== "grammar" || !format.definition) return "";
  return `The input must follow this ${format.syntax ?? "lark"} grammar:\n${format.definition}`;
}

/** A model that ignored the form has written the input itself. */
function readInput(text: string): string {
  const parsed = tryParseJson(text);
  const input = (parsed as { readonly input?: unknown } | undefined)?.input;
  return typeof input === "string" ? input : text;
}
