/**
 * `shell`: commands that the client runs, or that the server runs in a container if the request asks for one. Their
 * output is an item of its own in both cases.
 */

import { Failure } from "../../base/failure.ts";
import { asJson, isJsonObject, type JsonObject } from "../../base/json.ts";
import type { ShellTool } from "../../protocol/hosted-kinds/shell.ts";
import { SHELL, type ShellCall, type ShellOutput } from "../../protocol/hosted-kinds/shell.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import type { FunctionTool, Tool } from "../../protocol/tools.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";
import { toCallEvents } from "../fold/call-events.ts";
import { readArguments, readCount, readTexts, statusOf } from "./arguments.ts";
import { toResultText } from "./result-text.ts";
import { type KindRequest, type Offer, type ToolKind, typesOf } from "./tool-kind.ts";

/**
 * A tool of the gate that takes `commands`, `timeout_ms` and `max_output_length`, and the container in which it runs
 * them.
 */
export interface OpenedShell {
  /** Undefined for a machine of an MCP server. */
  readonly containerId: string | undefined;
  readonly tool: GateTool;
}

export interface ShellKindParts {
  /** Undefined if the server runs no commands: a request that asks for it is refused. */
  readonly open: ((tool: ShellTool, request: KindRequest) => Promise<OpenedShell>) | undefined;
}

const KEY = "shell";

export function createShellKind({ open }: ShellKindParts): ToolKind {
  return {
    ...typesOf(SHELL),
    async open(tool: Tool, request, backing) {
      if (backing) return { offers: [toOffer({ containerId: undefined, tool: backing })] };
      const shell = tool as ShellTool;
      if (!isHosted(shell)) return { offers: [toOffer(undefined)] };
      if (!open) throw new Failure("invalid_request", NO_SHELL, { param: "tools" });
      return { offers: [toOffer(await open(shell, request))] };
    },
    keyOf: (item) => (item.type === "shell_call" ? KEY : undefined),
    toFunctions,
  };
}

const NO_SHELL =
  "This server runs no shell. Give the `shell` tool the environment `local` and run the commands yourself.";

function isHosted({ environment }: ShellTool): boolean {
  return environment?.type === "container_auto" || environment?.type === "container_reference";
}

function toOffer(hosted: OpenedShell | undefined): Offer {
  const { containerId } = hosted ?? {};
  const environment: JsonObject =
    containerId === undefined
      ? { type: "local" }
      : { type: "container_reference", container_id: containerId };
  const offer: Offer = {
    key: KEY,
    spec: hosted && containerId !== undefined ? { ...hosted.tool.spec, name: KEY } : LOCAL_SPEC,
    isMeantBy: (choice) => choice["type"] === "shell",
    shows: "nothing",
    toItem: (call, id) => {
      const status = hosted ? "in_progress" : statusOf(call);
      return { ...toShellCall(call), id, environment, status } as Item;
    },
  };
  if (!hosted) return { ...offer, late: { begins: toBegun, tells: toCallEvents } };
  const { tool } = hosted;
  return { ...offer, run: { tool, toArguments: argumentsOf, show: showRun } };
}

function toBegun(item: Item): Item {
  const { action } = item as ShellCall;
  return { ...item, status: "in_progress", action: { ...action, commands: [] } } as Item;
}

const LOCAL_SPEC: FunctionTool = {
  type: "function",
  name: KEY,
  description: "Runs shell commands on the user's machine and gives back what each of them wrote.",
  strict: false,
  parameters: {
    type: "object",
    properties: {
      commands: { type: "array", items: { type: "string" }, description: "The commands." },
      timeout_ms: {
        type: "integer",
        description: "Milliseconds after which the commands are stopped.",
      },
      max_output_length: {
        type: "integer",
        description: "How many characters of the output are given back.",
      },
    },
    required: ["commands"],
    additionalProperties: false,
  },
};

function toShellCall({ call_id, arguments: text }: FunctionCall): Omit<ShellCall, "status"> {
  const given = readArguments(text);
  const action = {
    commands: readTexts(given["commands"]),
    timeout_ms: readCount(given["timeout_ms"]),
    max_output_length: readCount(given["max_output_length"]),
  };
  return { type: "shell_call", call_id, action };
}

/** Arguments that the model left out are left to the tool. */
function argumentsOf(item: Item): string {
  const action = item.type === "shell_call" ? item.action : { commands: [] };
  const given = Object.entries(action).filter(([, value]) => value !== null);
  return JSON.stringify(Object.fromEntries(given));
}

function showRun(item: Item, result: ToolResult): Item[] {
  const { call_id, action } = item as ShellCall;
  return [
    { ...item, status: "completed" } as Item,
    {
      type: "shell_call_output",
      call_id,
      status: "completed",
      max_output_length: action.max_output_length ?? null,
      output: outputOf(result),
    },
  ];
}

/** A tool of an MCP server has no details; a refused call has only the reason as output. */
function outputOf({ output, failed, details }: ToolResult): ShellOutput[] {
  const outputs = isJsonObject(details) ? details["output"] : undefined;
  if (Array.isArray(outputs)) return outputs as unknown as ShellOutput[];
  const text = toResultText(output);
  const streams = failed ? { stdout: "", stderr: text } : { stdout: text, stderr: "" };
  return [{ ...streams, outcome: { type: "exit", exit_code: failed ? 1 : 0 } }];
}

function toFunctions(item: Item, nameOf: (key: string) => string): readonly Item[] {
  if (item.type === "shell_call") {
    const { call_id, action } = item;
    const text = JSON.stringify(action);
    return [{ type: "function_call", call_id, name: nameOf(KEY), arguments: text }];
  }
  if (item.type !== "shell_call_output") return [];
  const { call_id } = item;
  // Some clients send one text in place of the list.
  const given = asJson(item.output);
  const output = typeof given === "string" ? given : JSON.stringify(given);
  return [{ type: "function_call_output", call_id, output }];
}
