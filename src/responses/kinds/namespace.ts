/**
 * `namespace`: functions and free-text tools under a common name. Models are offered each of them with both names
 * joined; a call has the namespace in a field of its own.
 */

import type { FunctionCall, Item } from "../../protocol/items.ts";
import type { CustomTool, FunctionTool, NamespaceTool, Tool } from "../../protocol/tools.ts";
import { toCustomOffer } from "./custom.ts";
import type { Offer, ToolKind } from "./tool-kind.ts";

export const NAMESPACE_KIND: ToolKind = {
  toolTypes: ["namespace"],
  // Calls of free-text tools are `custom_tool_call`s, whose kind knows namespaces.
  itemTypes: ["function_call"],
  open: async (tool: Tool) => openNamespace(tool as NamespaceTool),
  keyOf: (item) =>
    item.type === "function_call" && item.namespace ? toKey(item.namespace, item.name) : undefined,
  toFunctions(item, nameOf) {
    if (item.type !== "function_call" || !item.namespace) return [item];
    const { namespace, name, ...call } = item;
    return [{ ...call, name: nameOf(toKey(namespace, name)) }];
  },
};

function openNamespace(space: NamespaceTool): { offers: Offer[]; ignored: string[] } {
  const offers: Offer[] = [];
  const ignored: string[] = [];
  for (const tool of space.tools) {
    const described = describe(space, tool as FunctionTool | CustomTool);
    const deferred =
      isDeferred(space) || isDeferred(tool) ? { ...space, tools: [tool] } : undefined;
    if (described.type === "function") {
      offers.push({ ...toFunctionOffer(described, space.name), deferred });
    } else if (described.type === "custom") {
      offers.push({ ...toCustomOffer(described, space.name), deferred });
    } else ignored.push(`tools (${(tool as { readonly type: string }).type} in ${space.name})`);
  }
  return { offers, ignored };
}

/** Each tool in it may say so; some clients say it for all at once. */
function isDeferred(tool: object): boolean {
  return "defer_loading" in tool && tool.defer_loading === true;
}

/** The description of the namespace is added to each of its tools: models see no namespaces. */
function describe<Inner extends FunctionTool | CustomTool>(
  { description }: NamespaceTool,
  tool: Inner,
): Inner {
  if (!description) return tool;
  return { ...tool, description: [tool.description, description].filter(Boolean).join("\n\n") };
}

function toFunctionOffer(tool: FunctionTool, namespace: string): Offer {
  const { name, description, parameters, strict } = tool;
  const key = toKey(namespace, name);
  return {
    key,
    spec: { type: "function", name: key, description, parameters, strict: strict ?? false },
    isMeantBy: (choice) =>
      (choice["type"] === "namespace" && choice["name"] === namespace) ||
      (choice["type"] === "function" &&
        choice["name"] === name &&
        (choice["namespace"] === undefined || choice["namespace"] === namespace)),
    shows: "all",
    toItem: ({ id, ...call }: FunctionCall): Item => ({
      ...call,
      ...(id ? { id } : {}),
      name,
      namespace,
    }),
  };
}

function toKey(namespace: string, name: string): string {
  return `${namespace}__${name}`;
}
