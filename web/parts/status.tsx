/** A run's state: a sign, a word and a colour, so that none of them is needed alone. */

import type { RunView } from "../core/views.ts";
import { Icon, type IconName } from "./icon.tsx";

type Tone = "live" | "quiet" | "warn" | "good" | "bad";

const STATES: Readonly<Record<string, readonly [sign: IconName, tone: Tone]>> = {
  running: ["running", "live"],
  queued: ["clock", "quiet"],
  waiting: ["question", "warn"],
  completed: ["check", "good"],
  failed: ["close", "bad"],
  refused: ["minus", "warn"],
  denied: ["minus", "warn"],
  cancelled: ["stop", "quiet"],
  budget: ["dollar", "warn"],
  timeout: ["clock", "warn"],
  max_turns: ["repeat", "warn"],
  interrupted: ["pause", "warn"],
};

export function Status({
  state,
  brief = false,
}: {
  readonly state: string;
  readonly brief?: boolean;
}) {
  const [sign, tone] = STATES[state] ?? ["dot", "quiet"];
  const word = state.replaceAll("_", " ");
  return (
    <span class={`status ${tone}`} title={brief ? word : undefined}>
      <Icon name={sign} />
      <span class={brief ? "hidden-text" : ""}>{word}</span>
    </span>
  );
}

export function stateOf({ status, ending }: Pick<RunView, "status" | "ending">): string {
  return status === "ended" ? (ending ?? "ended") : status;
}
