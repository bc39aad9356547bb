/** `tool_choice`, where some of the tools it names are offered as functions. */

import type { JsonObject } from "../../base/json.ts";
import type { ToolChoice } from "../../protocol/tools.ts";

interface Offered {
  readonly isNative: (type: string) => boolean;
  /** The names of the functions that stand for what an entry means. */
  readonly find: (entry: JsonObject) => readonly string[];
}

export function chooseOffers(choice: ToolChoice, offered: Offered): ToolChoice {
  if (typeof choice === "string") return choice;
  if (choice.type === "function" && !("namespace" in choice)) return choice;
  if (choice.type === "allowed_tools") {
    const tools = choice.tools.flatMap((entry) => {
      const names = offered.find(entry);
      return names.length > 0 ? names.map(toFunctionEntry) : [entry];
    });
    return { ...choice, tools };
  }
  if (offered.isNative(choice.type)) return choice;
  const [name, ...others] = offered.find(choice as unknown as JsonObject);
  // What was not offered cannot be forced.
  if (name === undefined) return "auto";
  if (others.length === 0) return { type: "function", name };
  const tools = [name, ...others].map(toFunctionEntry);
  return { type: "allowed_tools", mode: "required", tools };
}

function toFunctionEntry(name: string): JsonObject {
  return { type: "function", name };
}
