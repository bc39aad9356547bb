/**
 * Stream events about a tool call on its way: its progress, and the pieces of what the model writes
 * into it. Kinds of one shape share a schema; which tool it was is in `type`.
 */

import { z } from "zod";
import { event, place } from "./event-fields.ts";
import { ShellOutput } from "./hosted-items.ts";
import { open } from "./open.ts";

/** Says how far a tool that the server runs has come; the call itself is in the item's events. */
export const ToolCallProgress = event(
  [
    "response.file_search_call.in_progress",
    "response.file_search_call.searching",
    "response.file_search_call.completed",
    "response.web_search_call.in_progress",
    "response.web_search_call.searching",
    "response.web_search_call.completed",
    "response.code_interpreter_call.in_progress",
    "response.code_interpreter_call.interpreting",
    "response.code_interpreter_call.completed",
    "response.image_generation_call.in_progress",
    "response.image_generation_call.generating",
    "response.image_generation_call.completed",
    "response.mcp_call.in_progress",
    "response.mcp_call.completed",
    "response.mcp_call.failed",
    "response.mcp_list_tools.in_progress",
    "response.mcp_list_tools.completed",
    "response.mcp_list_tools.failed",
    "response.compaction.compacting",
  ],
  place,
);
export type ToolCallProgress = z.infer<typeof ToolCallProgress>;

/** The next piece of a call's arguments, free text, code or patch. */
export const ToolCallDelta = event(
  [
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
    "response.mcp_call_arguments.delta",
    "response.code_interpreter_call_code.delta",
    "response.apply_patch_call_operation_diff.delta",
  ],
  { ...place, delta: z.string(), obfuscation: z.string().optional() },
);
export type ToolCallDelta = z.infer<typeof ToolCallDelta>;

export const FunctionCallArgumentsDone = event(["response.function_call_arguments.done"], {
  ...place,
  /** Missing in answers of older servers. */
  name: z.string().optional(),
  arguments: z.string(),
});
export type FunctionCallArgumentsDone = z.infer<typeof FunctionCallArgumentsDone>;

export const McpCallArgumentsDone = event(["response.mcp_call_arguments.done"], {
  ...place,
  arguments: z.string(),
});
export type McpCallArgumentsDone = z.infer<typeof McpCallArgumentsDone>;

export const CustomToolCallInputDone = event(["response.custom_tool_call_input.done"], {
  ...place,
  input: z.string(),
});
export type CustomToolCallInputDone = z.infer<typeof CustomToolCallInputDone>;

export const CodeInterpreterCodeDone = event(["response.code_interpreter_call_code.done"], {
  ...place,
  code: z.string(),
});
export type CodeInterpreterCodeDone = z.infer<typeof CodeInterpreterCodeDone>;

export const ApplyPatchDiffDone = event(["response.apply_patch_call_operation_diff.done"], {
  ...place,
  diff: z.string(),
});
export type ApplyPatchDiffDone = z.infer<typeof ApplyPatchDiffDone>;

/** The call is named by the first of the three ids that is there. */
const legacyPlace = {
  item_id: z.string().optional(),
  tool_call_id: z.string().optional(),
  call_id: z.string().optional(),
  output_index: z.number().optional(),
};

/** What servers of the legacy vocabulary say instead of `function_call_arguments`. */
export const LegacyArgumentsDelta = event(["response.tool_call_arguments.delta"], {
  ...legacyPlace,
  delta: z.string(),
});
export type LegacyArgumentsDelta = z.infer<typeof LegacyArgumentsDelta>;

export const LegacyArgumentsDone = event(["response.tool_call_arguments.done"], {
  ...legacyPlace,
  arguments: z.string(),
});
export type LegacyArgumentsDone = z.infer<typeof LegacyArgumentsDone>;

export const ImagePartial = event(["response.image_generation_call.partial_image"], {
  ...place,
  partial_image_index: z.number().optional(),
  partial_image_b64: z.string(),
});
export type ImagePartial = z.infer<typeof ImagePartial>;

/** Shell events tell their command by its number; only those about output name the item. */
const commandPlace = {
  item_id: z.string().optional(),
  output_index: z.number(),
  command_index: z.number(),
};

export const ShellCommand = event(
  ["response.shell_call_command.added", "response.shell_call_command.done"],
  { ...commandPlace, command: z.string() },
);
export type ShellCommand = z.infer<typeof ShellCommand>;

export const ShellCommandDelta = event(["response.shell_call_command.delta"], {
  ...commandPlace,
  delta: z.string(),
  obfuscation: z.string().optional(),
});
export type ShellCommandDelta = z.infer<typeof ShellCommandDelta>;

export const ShellOutputDelta = event(["response.shell_call_output_content.delta"], {
  ...commandPlace,
  delta: open({ stdout: z.string().optional(), stderr: z.string().optional() }),
});
export type ShellOutputDelta = z.infer<typeof ShellOutputDelta>;

export const ShellOutputDone = event(["response.shell_call_output_content.done"], {
  ...commandPlace,
  output: z.array(ShellOutput),
});
export type ShellOutputDone = z.infer<typeof ShellOutputDone>;

export const TOOL_CALL_EVENT_KINDS = [
  ToolCallProgress,
  ToolCallDelta,
  FunctionCallArgumentsDone,
  McpCallArgumentsDone,
  CustomToolCallInputDone,
  CodeInterpreterCodeDone,
  ApplyPatchDiffDone,
  LegacyArgumentsDelta,
  LegacyArgumentsDone,
  ImagePartial,
  ShellCommand,
  ShellCommandDelta,
  ShellOutputDelta,
  ShellOutputDone,
] as const;
