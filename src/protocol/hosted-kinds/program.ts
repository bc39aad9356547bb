/** `programmatic_tool_calling`: programs that a model writes to call tools. Only their own vendor runs them. */

import { z } from "zod";
import { itemFields } from "../item-fields.ts";
import { open, openEnum } from "../open.ts";
import type { HostedKind } from "./hosted-kind.ts";

/** Lets the model write a program that calls the other tools. */
export const ProgrammaticToolCalling = open({ type: z.literal("programmatic_tool_calling") });
export type ProgrammaticToolCalling = z.infer<typeof ProgrammaticToolCalling>;

/** A program that the model wrote to call tools; its calls name it as their `caller`. */
export const Program = open({
  type: z.literal("program"),
  ...itemFields,
  call_id: z.string(),
  code: z.string(),
  fingerprint: z.string().optional(),
});
export type Program = z.infer<typeof Program>;

export const ProgramOutput = open({
  type: z.literal("program_output"),
  ...itemFields,
  call_id: z.string(),
  result: z.string(),
  status: openEnum(["completed", "incomplete"]).optional(),
});
export type ProgramOutput = z.infer<typeof ProgramOutput>;

export const PROGRAM = {
  name: "programmatic_tool_calling",
  tools: [ProgrammaticToolCalling],
  spellings: undefined,
  runs: "server",
  choices: ["programmatic_tool_calling"],
  items: {
    program: {
      idPrefix: "item",
      cut: "incomplete",
      always: { fingerprint: "" },
      answeredBy: undefined,
      optional: {},
      progress: undefined,
      writes: undefined,
    },
    program_output: {
      idPrefix: "item",
      cut: "incomplete",
      always: { status: "completed" },
      answeredBy: undefined,
      optional: {},
      progress: undefined,
      writes: undefined,
    },
  },
  itemSchemas: [Program, ProgramOutput],
  events: [],
} as const satisfies HostedKind;
