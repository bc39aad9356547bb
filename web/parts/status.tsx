/** A run's state: a sign, a word and a colour, so that none of them is needed alone. */

import type { RunView } from "../core/views.ts";

const STATES: Readonly<Record<string, readonly [sign: string, tone: string]>> = {
  running: ["●", "live"],
  queued: ["○", "quiet"],
  waiting: ["?", "warn"],
  completed: ["✓", "good"],
  failed: ["✗", "bad"],
  refused: ["⊘", "warn"],
  cancelled: ["–", "quiet"],
  budget: ["$", "warn"],
  timeout: ["⏱", "warn"],
  max_turns: ["↻", "warn"],
  interrupted: ["‖", "warn"],
};

export function Status({
  state,
  brief = false,
}: {
  readonly state: string;
  readonly brief?: boolean;
}) {
  const [sign, tone] = STATES[state] ?? ["·", "quiet"];
  return (
    <span class={`status ${tone}`} title={state}>
      <span aria-hidden="true">{sign}</span>
      <span class={brief ? "hidden-text" : ""}>{state.replaceAll("_", " ")}</span>
    </span>
  );
}

export function stateOf({ status, ending }: Pick<RunView, "status" | "ending">): string {
  return status === "ended" ? (ending ?? "ended") : status;
}
