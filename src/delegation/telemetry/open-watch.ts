/** Everything that watches the runs of a process: the log of subagents, and a collector where one is named. */

import { type Log, silentLog } from "../../base/log.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { DelegationSettings } from "../settings.ts";
import type { SubagentEvent } from "../subagent-events.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { createSubagentLog } from "./subagent-log.ts";
import type { Variables } from "./trace-context.ts";

export interface Watch {
  /** For the engine; undefined where nobody wants to know. */
  readonly observe: ((logged: LoggedEvent) => void) | undefined;
  /** Told of what happens to subagents. */
  readonly tell: (event: SubagentEvent) => void;
  /** The variables for the process of a child whose `child_start` was observed. */
  readonly environmentOf: (childId: string) => Readonly<Record<string, string>>;
  /** Called after the engine has stopped. Never rejects. */
  close(): Promise<void>;
}

interface WatchOptions {
  readonly settings: Pick<DelegationSettings, "telemetryEnabled">;
  readonly version: string;
  /** That of the area `subagent`. */
  readonly log?: Log | undefined;
  /** Told as well, whatever the settings. */
  readonly observe?: ((event: SubagentEvent) => void) | undefined;
}

export async function openWatch(env: Variables, options: WatchOptions): Promise<Watch> {
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
