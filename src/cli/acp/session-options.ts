/** What an editor lets its user choose for a session: the model, how calls are approved, whether the model thinks. */

import {
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
} from "@agentclientprotocol/sdk";
import type { Approval } from "../../tools/gate/decide.ts";

/** How calls that change things are approved. The editor's name for each is what its user reads. */
const MODES = [
  { id: "ask", name: "Ask", description: "Asks before it changes or runs anything" },
  { id: "auto", name: "Auto", description: "Does what its rules allow without asking" },
  { id: "deny", name: "Read only", description: "Denies what would have to be asked about" },
] as const satisfies readonly { readonly id: Approval; name: string; description: string }[];

const THINKING = ["off", "on"] as const;

/** What was chosen. */
export interface Choice {
  readonly model: string;
  readonly mode: Approval;
  readonly isThinking: boolean;
}

export function toModes(mode: Approval): SessionModeState {
  return { currentModeId: mode, availableModes: MODES.map((one) => ({ ...one })) };
}

export function toOptions(
  { model, mode, isThinking }: Choice,
  models: readonly string[],
): SessionConfigOption[] {
  const toOption = (value: string) => ({ value, name: value });
  const modes = MODES.map(({ id, name, description }) => ({ value: id, name, description }));
  return [
    {
      ...{ id: "model", name: "Model", category: "model", type: "select", currentValue: model },
      options: [...new Set([model, ...models])].map(toOption),
    },
    {
      ...{ id: "mode", name: "Approvals", category: "mode", type: "select" },
      ...{ currentValue: mode, options: modes },
    },
    {
      ...{ id: "thinking", name: "Thinking", category: "thought_level", type: "select" },
      ...{ currentValue: isThinking ? "on" : "off", options: THINKING.map(toOption) },
    },
  ];
}

export function parseMode(given: string): Approval {
  const mode = MODES.find(({ id }) => id === given);
  if (mode) return mode.id;
  throw RequestError.invalidParams({ modeId: given }, `There is no mode \`${given}\`.`);
}

export function parseThinking(given: unknown): boolean {
  if (given === true || given === "on") return true;
  if (given === false || given === "off") return false;
  throw RequestError.invalidParams({ value: given }, "`thinking` takes on or off.");
}
