/** `apply_patch`: a change to one file. */

import { z } from "zod";
import { event, place } from "../event-fields.ts";
import { callFields } from "../item-fields.ts";
import { open, openEnum } from "../open.ts";
import { allowedCallers } from "../tool-fields.ts";
import { type HostedKind, toWriting } from "./hosted-kind.ts";

export const ApplyPatchTool = open({
  type: z.literal("apply_patch"),
  allowed_callers: allowedCallers,
});
export type ApplyPatchTool = z.infer<typeof ApplyPatchTool>;

export const ApplyPatchCall = open({
  type: z.literal("apply_patch_call"),
  ...callFields,
  operation: open({
    type: openEnum(["create_file", "update_file", "delete_file"]),
    path: z.string(),
    /** Missing when a file is deleted. */
    diff: z.string().optional(),
  }),
  status: openEnum(["in_progress", "completed"]).optional(),
});
export type ApplyPatchCall = z.infer<typeof ApplyPatchCall>;

export const ApplyPatchCallOutput = open({
  type: z.literal("apply_patch_call_output"),
  ...callFields,
  output: z.string().nullable().optional(),
  status: openEnum(["completed", "failed"]).optional(),
});
export type ApplyPatchCallOutput = z.infer<typeof ApplyPatchCallOutput>;

export const ApplyPatchDiffDone = event(["response.apply_patch_call_operation_diff.done"], {
  ...place,
  diff: z.string(),
});
export type ApplyPatchDiffDone = z.infer<typeof ApplyPatchDiffDone>;

export const APPLY_PATCH = {
  name: "apply_patch",
  tools: [ApplyPatchTool],
  spellings: undefined,
  runs: "client",
  choices: ["apply_patch"],
  items: {
    apply_patch_call: {
      idPrefix: "apc",
      cut: "incomplete",
      always: { status: "completed" },
      answeredBy: "apply_patch_call_output",
      optional: {},
      progress: undefined,
      writes: { ...toWriting("apply_patch_call_operation_diff", "diff"), isVendors: true },
    },
    apply_patch_call_output: {
      idPrefix: "apco",
      cut: "incomplete",
      always: { status: "completed" },
      answeredBy: undefined,
      optional: {},
      progress: undefined,
      writes: undefined,
    },
  },
  itemSchemas: [ApplyPatchCall, ApplyPatchCallOutput],
  events: [ApplyPatchDiffDone],
} as const satisfies HostedKind;
