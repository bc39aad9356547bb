/** `computer`: clicks, keys and pictures of a screen, made by the client. */

import { z } from "zod";
import { ComputerScreenshot } from "../content.ts";
import { callFields, itemStatus } from "../item-fields.ts";
import { open, openEnum } from "../open.ts";
import type { HostedKind } from "./hosted-kind.ts";

export const ComputerTool = open({ type: z.literal("computer") });
export type ComputerTool = z.infer<typeof ComputerTool>;

export const ComputerUsePreviewTool = open({
  type: z.literal("computer_use_preview"),
  display_width: z.number(),
  display_height: z.number(),
  environment: openEnum(["browser", "mac", "windows", "linux", "ubuntu"]),
});
export type ComputerUsePreviewTool = z.infer<typeof ComputerUsePreviewTool>;

/** `click` with its place, `type` with its text, and so on. */
const computerAction = open({
  type: openEnum([
    "click",
    "double_click",
    "drag",
    "keypress",
    "move",
    "screenshot",
    "scroll",
    "type",
    "wait",
  ]),
  x: z.number().optional(),
  y: z.number().optional(),
  scroll_x: z.number().optional(),
  scroll_y: z.number().optional(),
  button: openEnum(["left", "right", "wheel", "back", "forward"]).optional(),
  keys: z.array(z.string()).nullable().optional(),
  path: z.array(open({ x: z.number(), y: z.number() })).optional(),
  text: z.string().optional(),
});

const safetyCheck = open({
  id: z.string(),
  code: z.string().nullable().optional(),
  message: z.string().nullable().optional(),
});

export const ComputerCall = open({
  type: z.literal("computer_call"),
  ...callFields,
  action: computerAction.nullable().optional(),
  actions: z.array(computerAction).nullable().optional(),
  pending_safety_checks: z.array(safetyCheck).optional(),
  status: itemStatus,
});
export type ComputerCall = z.infer<typeof ComputerCall>;

export const ComputerCallOutput = open({
  type: z.literal("computer_call_output"),
  ...callFields,
  output: ComputerScreenshot,
  acknowledged_safety_checks: z.array(safetyCheck).nullable().optional(),
  status: openEnum(["in_progress", "completed", "incomplete", "failed"]).nullable().optional(),
});
export type ComputerCallOutput = z.infer<typeof ComputerCallOutput>;

export const COMPUTER = {
  name: "computer",
  tools: [ComputerTool, ComputerUsePreviewTool],
  spellings: /^computer(_use(_preview)?|_\d{8})?$/,
  runs: "client",
  choices: ["computer", "computer_use", "computer_use_preview"],
  items: {
    computer_call: {
      idPrefix: "cu",
      cut: "incomplete",
      always: { status: "completed", pending_safety_checks: [] },
      answeredBy: "computer_call_output",
      optional: {},
      progress: undefined,
      writes: undefined,
    },
    computer_call_output: {
      idPrefix: "item",
      cut: "incomplete",
      always: { status: "completed" },
      answeredBy: undefined,
      optional: { "output.image_url": "left out" },
      progress: undefined,
      writes: undefined,
    },
  },
  itemSchemas: [ComputerCall, ComputerCallOutput],
  events: [],
} as const satisfies HostedKind;
