/**
 * `local_shell`: one command that the client, or a tool of the settings, runs. Its output is paired with the call by
 * `id` in the published API and by `call_id` elsewhere, so both are the same text here.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { LOCAL_SHELL, type LocalShellCall } from "../../protocol/hosted-kinds/local-shell.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";
import { readArguments, readCount, readText, readTexts, statusOf } from "./arguments.ts";
import { toResultText } from "./result-text.ts";
import { type Offer, type ToolKind, typesOf } from "./tool-kind.ts";

const KEY = "local_shell";

export const LOCAL_SHELL_KIND: ToolKind = {
  ...typesOf(LOCAL_SHELL),
  open: async (_tool, _request, backing) => ({ offers: [backing ? toBacked(backing) : OFFER] }),
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
        timeout_ms: {
          type: "integer",
          description: "Milliseconds after which the command is stopped.",
        },
        env: {
          type: "object",
          additionalProperties: { type: "string" },
          description: "Environment variables in addition to the usual ones.",
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

/** A tool of an MCP server gets one line of shell, as nearly all of them expect. */
function toBacked(tool: GateTool): Offer {
  return {
    ...OFFER,
    toItem: (call, id) => ({ ...OFFER.toItem(call, id), status: "in_progress" }) as Item,
    run: { tool, toArguments: argumentsOf, show: showRun },
  };
}

function argumentsOf(item: Item): string {
  const { command, working_directory, timeout_ms } = (item as LocalShellCall).action;
  const given = { command: toLine(command), working_directory, timeout_ms };
  const known = Object.entries(given).filter(([, value]) => value !== null);
  return JSON.stringify(Object.fromEntries(known));
}

/** `["bash", "-lc", "ls"]` already contains a line. */
function toLine(command: readonly string[]): string {
  const [program = "", flag = "", line, ...more] = command;
  const isLine = /^(.*\/)?(ba|z|da)?sh$/.test(program) && /^-[a-z]*c$/.test(flag);
  if (isLine && line !== undefined && more.length === 0) return line;
  return command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

function showRun(item: Item, { output, failed }: ToolResult): Item[] {
  const { id = "", call_id } = item as LocalShellCall;
  const status = failed ? "incomplete" : "completed";
  return [
    { ...item, status: "completed" } as Item,
    { type: "local_shell_call_output", id, call_id, output: toResultText(output), status } as Item,
  ];
}

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
