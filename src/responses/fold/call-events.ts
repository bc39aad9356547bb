/**
 * The events of calls that a server makes and shows as items of their own: which there are for each
 * kind of item, and when. The order is that of recorded streams: it begins, the model writes what it
 * is called with, it runs, it is done.
 */

import type { JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";

interface CallEvents {
  /** Right behind the item's `added`. */
  readonly begun?: string;
  /** While it is made. */
  readonly running?: string;
  readonly done?: string;
  readonly failed?: string;
}

export const CALL_EVENTS: Readonly<Record<string, CallEvents>> = {
  web_search_call: progress("web_search_call", "searching"),
  file_search_call: progress("file_search_call", "searching"),
  code_interpreter_call: progress("code_interpreter_call", "interpreting"),
  image_generation_call: progress("image_generation_call", "generating"),
  mcp_call: {
    begun: "response.mcp_call.in_progress",
    done: "response.mcp_call.completed",
    failed: "response.mcp_call.failed",
  },
  mcp_list_tools: {
    begun: "response.mcp_list_tools.in_progress",
    done: "response.mcp_list_tools.completed",
    failed: "response.mcp_list_tools.failed",
  },
};

function progress(kind: string, running: string): CallEvents {
  return {
    begun: `response.${kind}.in_progress`,
    running: `response.${kind}.${running}`,
    done: `response.${kind}.completed`,
  };
}

/** The words for what the model writes into a call, by the kind of its item. */
export interface Writing {
  readonly delta: string;
  readonly done: string;
  /** The field of the item, and of the `done` event, that holds it whole. */
  readonly field: string;
}

export const WRITINGS: Readonly<Record<string, Writing>> = {
  function_call: writing("function_call_arguments", "arguments"),
  mcp_call: writing("mcp_call_arguments", "arguments"),
  custom_tool_call: writing("custom_tool_call_input", "input"),
  code_interpreter_call: writing("code_interpreter_call_code", "code"),
};

function writing(kind: string, field: string): Writing {
  return { delta: `response.${kind}.delta`, done: `response.${kind}.done`, field };
}

/** Whether a finished call says that it failed. */
export function isFailedCall(item: Item): boolean {
  if ("status" in item && item.status === "failed") return true;
  return "error" in item && item.error !== null && item.error !== undefined;
}

/** What the event of a finished call says of it: a picture is in it whole. */
export function resultOf(item: Item | undefined): { result?: string } {
  return item?.type === "image_generation_call" && item.result ? { result: item.result } : {};
}

/** What a shell was told, one command after the other: behind the call's `added`. */
export function toCommandEvents(item: Item): JsonObject[] {
  if (item.type !== "shell_call") return [];
  const { commands } = item.action;
  return commands.flatMap((command, command_index) => [
    { type: "response.shell_call_command.added", command_index, command: "" },
    { type: "response.shell_call_command.delta", command_index, delta: command },
    { type: "response.shell_call_command.done", command_index, command },
  ]);
}

/** What a shell answered: between `added` and `done` of its output. */
export function toOutputEvents(item: Item): JsonObject[] {
  if (item.type !== "shell_call_output") return [];
  const outputs = item.output as unknown as readonly JsonObject[];
  return outputs.flatMap((output, command_index) => {
    const { stdout = "", stderr = "" } = output;
    return [
      {
        type: "response.shell_call_output_content.delta",
        command_index,
        delta: { stdout, stderr },
      },
      { type: "response.shell_call_output_content.done", command_index, output: [output] },
    ];
  });
}
