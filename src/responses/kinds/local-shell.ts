/**
 * `local_shell`: one command that the client runs. Its output is paired with the call by `id` in the
 * published API and by `call_id` elsewhere, so both are the same text here.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { LocalShellCall } from "../../protocol/hosted-items.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import type { Offer, ToolKind } from "../bridge/tool-kind.ts";
import { readArguments, readCount, readText, readTexts, statusOf } from "./arguments.ts";

const KEY = "local_shell";

export const LOCAL_SHELL_KIND: ToolKind = {
  toolTypes: ["local_shell"],
  itemTypes: ["local_shell_call", "local_shell_call_output"],
  open: async () => ({ offers: [OFFER] }),
  keyOf: (item) => (item.type === "local_shell_call" ? KEY : undefined),
  toFunctions(item, nameOf) {
    if (item.type === "local_shell_call") {
      const { type: _, ...action } = item.action;
      const text = JSON.stringify(action);
      return [{ type: "function_call", call_id: item.call_id, name: nameOf(KEY), arguments: text }];
    }
    if (item.type !== "local_shell_call_output") return [];
    const call_id = item.call_id ?? item.id ?? "";
    return [{ type: "function_call_output", call_id, output: item.output }];
  },
};

const OFFER: Offer = {
  key: KEY,
  spec: {
    type: "function",
    name: KEY,
    description: "Runs a command on the user's machine and gives back what it wrote.",
    strict: false,
    parameters: {
      type: "object",
      properties: {
        command: {
          type: "array",
          items: { type: "string" },
          description: 'The program and its arguments: ["bash", "-lc", "ls"] for a line of shell.',
        },
        working_directory: { type: "string", description: "Where it starts." },
        timeout_ms: { type: "integer", description: "Milliseconds after which it is stopped." },
        env: {
          type: "object",
          additionalProperties: { type: "string" },
          description: "Variables beside the usual ones.",
        },
      },
      required: ["command"],
      additionalProperties: false,
    },
  },
  isMeantBy: (choice) => choice["type"] === "local_shell",
  shows: "nothing",
  toItem: (call, id): Item => ({
    type: "local_shell_call",
    id,
    call_id: id,
    action: toAction(call),
    status: statusOf(call),
  }),
};

function toAction({ arguments: text }: FunctionCall): LocalShellCall["action"] {
  const given = readArguments(text);
  const folder = readText(given["working_directory"]);
  return {
    type: "exec",
    command: readTexts(given["command"]),
    env: toVariables(given["env"]),
    timeout_ms: readCount(given["timeout_ms"]),
    working_directory: folder === "" ? null : folder,
    user: null,
  };
}

function toVariables(value: JsonObject[string]): Record<string, string> {
  if (!isJsonObject(value)) return {};
  const texts = Object.entries(value).filter(([, one]) => typeof one === "string");
  return Object.fromEntries(texts) as Record<string, string>;
}
