/** Everything that watches the runs of a process: the log of subagents, and a collector if one is named. */

import type { Environment } from "../../base/environment.ts";
import { type Log, silentLog } from "../../base/log.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { DelegationSettings } from "../settings.ts";
import type { SubagentEvent } from "../subagent-events.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { createSubagentLog } from "./subagent-log.ts";

export interface TelemetryWatch {
  /** For the engine; undefined if nothing watches. */
  readonly observe: ((logged: LoggedEvent) => void) | undefined;
  /** Called with each event of subagents. */
  readonly tell: (event: SubagentEvent) => void;
  /** The variables for the process of a child whose `child_start` was observed. */
  readonly environmentOf: (childId: string) => Readonly<Record<string, string>>;
  /** Called after the engine has stopped. Never rejects. */
  close(): Promise<void>;
}

interface WatchOptions {
  readonly settings: Pick<DelegationSettings, "telemetryEnabled">;
  readonly version: string;
  /** The log of the area `subagent`. */
  readonly log?: Log | undefined;
  /** Called as well, whatever the settings. */
  readonly observe?: ((event: SubagentEvent) => void) | undefined;
}

export async function openWatch(env: Environment, options: WatchOptions): Promise<TelemetryWatch> {
  const { settings, version, log = silentLog } = options;
  const telemetry = settings.telemetryEnabled
    ? await openTelemetry(env, { version, log })
    : undefined;
  const write = createSubagentLog(log, settings);
  return {
    observe: telemetry?.observe,
    tell(event) {
      write(event);
      telemetry?.count(event);
      options.observe?.(event);
    },
    environmentOf: (childId) => telemetry?.environmentOf(childId) ?? {},
    close: async () => telemetry?.close(),
  };
}
