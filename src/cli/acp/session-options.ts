/**
 * The options that an editor offers its user for a session: the model, the approval mode, thinking.
 */

import {
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
} from "@agentclientprotocol/sdk";
import type { ThinkingEffort } from "../../agent/task.ts";
import type { InnerRunRequest } from "../../runtime/run-request.ts";
import type { Approval } from "../../tools/gate/decide.ts";

/** Approval modes for calls that change things. The user reads the editor's name for each. */
const MODES = [
  { id: "ask", name: "Ask", description: "Asks before it changes or runs anything" },
  { id: "auto", name: "Auto", description: "Does what its rules allow without asking" },
  { id: "deny", name: "Read only", description: "Denies calls that need approval" },
] as const satisfies readonly { readonly id: Approval; name: string; description: string }[];

/** How much the model thinks. Models that know fewer steps take the nearest one. */
const THINKING = [
  { id: "off", name: "Off" },
  { id: "low", name: "Low" },
  { id: "medium", name: "Medium" },
  { id: "high", name: "High" },
  { id: "max", name: "Most" },
] as const satisfies readonly { readonly id: ThinkingEffort | "off"; name: string }[];

export type Thinking = (typeof THINKING)[number]["id"];

/** What `think` of the settings means, and `on` of an editor that knows only on and off. */
const USUAL_THINKING: Thinking = "high";

/** The first choice of a session, by the settings. A level that is not offered becomes its neighbour. */
export function toFirstThinking({ think, effort }: ThinkingSettings): Thinking {
  if (effort === undefined) return think ? USUAL_THINKING : "off";
  if (effort === "minimal") return "low";
  return effort === "xhigh" ? "max" : effort;
}

type ThinkingSettings = Pick<InnerRunRequest, "think" | "effort">;

/** The user's choices. */
export interface SessionChoice {
  readonly model: string;
  readonly mode: Approval;
  readonly thinking: Thinking;
}

export function toModes(mode: Approval): SessionModeState {
  return { currentModeId: mode, availableModes: MODES.map((one) => ({ ...one })) };
}

export function toOptions(
  { model, mode, thinking }: SessionChoice,
  models: readonly string[],
): SessionConfigOption[] {
  const toOption = (value: string) => ({ value, name: value });
  const modes = MODES.map(({ id, name, description }) => ({ value: id, name, description }));
  return [
    {
      id: "model",
      name: "Model",
      category: "model",
      type: "select",
      currentValue: model,
      options: [...new Set([model, ...models])].map(toOption),
    },
    {
      id: "mode",
      name: "Approvals",
      category: "mode",
      type: "select",
      currentValue: mode,
      options: modes,
    },
    {
      id: "thinking",
      name: "Thinking",
      category: "thought_level",
      type: "select",
      currentValue: thinking,
      options: THINKING.map(({ id, name }) => ({ value: id, name })),
    },
  ];
}

export function parseMode(given: string): Approval {
  const mode = MODES.find(({ id }) => id === given);
  if (mode) return mode.id;
  throw RequestError.invalidParams({ modeId: given }, `Unknown mode \`${given}\`.`);
}

export function parseThinking(given: unknown): Thinking {
  if (given === true || given === "on") return USUAL_THINKING;
  const asked = given === false ? "off" : given;
  const step = THINKING.find(({ id }) => id === asked);
  if (step) return step.id;
  const known = THINKING.map(({ id }) => id).join(", ");
  throw RequestError.invalidParams({ value: given }, `\`thinking\` takes one of: ${known}.`);
}

/** The fields of a run that say how much it thinks. */
export function toThinkingWish(thinking: Thinking): Pick<InnerRunRequest, "think" | "effort"> {
  return thinking === "off" ? { think: false } : { think: true, effort: thinking };
}
