/** Events of subagents, as lines of the log for operators. */

import type { Log } from "../../base/log.ts";
import type { DelegationSettings } from "../settings.ts";
import { SUBAGENT_EVENTS, type SubagentEvent } from "../subagent-events.ts";

/** `log` is that of the area `subagent`. Writes nothing when telemetry is switched off. */
export function createSubagentLog(
  log: Log,
  { telemetryEnabled }: Pick<DelegationSettings, "telemetryEnabled">,
): (event: SubagentEvent) => void {
  if (!telemetryEnabled) return () => {};
  return (event) => {
    const { level, message } = SUBAGENT_EVENTS[event.event];
    log[level](message, toSubagentFields(event));
  };
}

/** The event's fields under their full names, in the contract's order. An unknown label is left out. */
export function toSubagentFields(event: SubagentEvent): SubagentFields {
  const named = Object.entries(event).filter(([name, value]) => name !== "label" || value !== "");
  return Object.fromEntries(named.map(([name, value]) => [`subagent.${name}`, value]));
}

export type SubagentFields = Readonly<Record<string, string | number | readonly string[]>>;
