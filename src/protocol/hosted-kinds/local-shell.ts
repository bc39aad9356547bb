/** `local_shell`: one command, run by the client. */

import { z } from "zod";
import { callFields, itemFields, itemStatus } from "../item-fields.ts";
import { open, openEnum } from "../open.ts";
import type { HostedKind } from "./hosted-kind.ts";

export const LocalShellTool = open({ type: z.literal("local_shell") });
export type LocalShellTool = z.infer<typeof LocalShellTool>;

export const LocalShellCall = open({
  type: z.literal("local_shell_call"),
  ...callFields,
  action: open({
    type: openEnum(["exec"]),
    command: z.array(z.string()),
    env: z.record(z.string(), z.string()).nullable().optional(),
    timeout_ms: z.number().nullable().optional(),
    user: z.string().nullable().optional(),
    working_directory: z.string().nullable().optional(),
  }),
  status: itemStatus,
});
export type LocalShellCall = z.infer<typeof LocalShellCall>;

/** Paired with its call by `id` in the published API, by `call_id` elsewhere. */
export const LocalShellCallOutput = open({
  type: z.literal("local_shell_call_output"),
  ...itemFields,
  call_id: z.string().nullable().optional(),
  output: z.string(),
  status: itemStatus,
});
export type LocalShellCallOutput = z.infer<typeof LocalShellCallOutput>;

export const LOCAL_SHELL = {
  name: "local_shell",
  tools: [LocalShellTool],
  spellings: undefined,
  runs: "client",
  choices: ["local_shell"],
  items: {
    local_shell_call: {
      idPrefix: "lsh",
      cut: "incomplete",
      always: { status: "completed" },
      answeredBy: "local_shell_call_output",
      optional: {},
      progress: undefined,
      writes: undefined,
    },
    local_shell_call_output: {
      idPrefix: "item",
      cut: "incomplete",
      always: { status: "completed" },
      answeredBy: undefined,
      optional: {},
      progress: undefined,
      writes: undefined,
    },
  },
  itemSchemas: [LocalShellCall, LocalShellCallOutput],
  events: [],
} as const satisfies HostedKind;
