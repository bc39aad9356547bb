/** `shell`: several commands, in a container of this server or on the client's machine. */

import { z } from "zod";
import type { JsonObject as JsonFields } from "../../base/json.ts";
import { event } from "../event-fields.ts";
import { callFields, itemStatus } from "../item-fields.ts";
import { JsonObject, open, openEnum } from "../open.ts";
import { allowedCallers, container } from "../tool-fields.ts";
import type { HostedKind } from "./hosted-kind.ts";

export const ShellTool = open({
  type: z.literal("shell"),
  environment: open({
    type: openEnum(["local", "container_auto", "container_reference"]),
    container_id: z.string().optional(),
    skills: z.array(JsonObject).optional(),
    ...container,
  })
    .nullable()
    .optional(),
  allowed_callers: allowedCallers,
});
export type ShellTool = z.infer<typeof ShellTool>;

export const ShellCall = open({
  type: z.literal("shell_call"),
  ...callFields,
  action: open({
    commands: z.array(z.string()),
    timeout_ms: z.number().nullable().optional(),
    max_output_length: z.number().nullable().optional(),
  }),
  environment: JsonObject.nullable().optional(),
  status: itemStatus,
});
export type ShellCall = z.infer<typeof ShellCall>;

/** The output of one command, and how it ended. */
export const ShellOutput = open({
  stdout: z.string(),
  stderr: z.string(),
  outcome: open({ type: openEnum(["exit", "timeout"]), exit_code: z.number().optional() }),
});
export type ShellOutput = z.infer<typeof ShellOutput>;

export const ShellCallOutput = open({
  type: z.literal("shell_call_output"),
  ...callFields,
  output: z.array(ShellOutput),
  max_output_length: z.number().nullable().optional(),
  status: itemStatus,
});
export type ShellCallOutput = z.infer<typeof ShellCallOutput>;

/** Shell events name their command by its number; only those about output name the item. */
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

export const SHELL = {
  name: "shell",
  tools: [ShellTool],
  spellings: undefined,
  runs: ({ environment }: ShellTool): boolean => (environment?.type ?? "local") !== "local",
  choices: ["shell"],
  items: {
    shell_call: {
      idPrefix: "sh",
      cut: "incomplete",
      always: { status: "completed", environment: null },
      answeredBy: "shell_call_output",
      optional: {},
      progress: undefined,
      writes: undefined,
      afterCall: toCommandEvents,
    },
    shell_call_output: {
      idPrefix: "sho",
      cut: "incomplete",
      always: { status: "completed", max_output_length: null },
      answeredBy: undefined,
      optional: {},
      progress: undefined,
      writes: undefined,
      inResult: toOutputEvents,
    },
  },
  itemSchemas: [ShellCall, ShellCallOutput],
  events: [ShellCommand, ShellCommandDelta, ShellOutputDelta, ShellOutputDone],
} as const satisfies HostedKind;

/** The commands of a call, one after the other. */
function toCommandEvents({ action: { commands } }: ShellCall): JsonFields[] {
  return commands.flatMap((command, command_index) => [
    { type: "response.shell_call_command.added", command_index, command: "" },
    { type: "response.shell_call_command.delta", command_index, delta: command },
    { type: "response.shell_call_command.done", command_index, command },
  ]);
}

/** What the commands wrote, one after the other. */
function toOutputEvents(item: ShellCallOutput): JsonFields[] {
  const outputs = item.output as unknown as readonly JsonFields[];
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
