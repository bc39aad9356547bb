/** Telemetry, loaded only where OpenTelemetry's variables name a collector. */

import { silentLog } from "../../base/log.ts";
import type { Telemetry, TelemetryOptions } from "./telemetry.ts";
import type { Variables } from "./trace-context.ts";

/** What a command that is done waits at most for a slow collector. */
const CLOSE_MS = 2000;

type OpenOptions = Pick<TelemetryOptions, "version"> & Partial<TelemetryOptions>;

/** Undefined where nothing is sent anywhere. Never rejects for what the variables say. */
export async function openTelemetry(
  env: Variables,
  options: OpenOptions,
): Promise<Telemetry | undefined> {
  const isNamed = Object.keys(env).some((name) =>
    /^OTEL_EXPORTER_OTLP_(\w+_)?ENDPOINT$/.test(name),
  );
  if (!isNamed) return undefined;
  const { createTelemetry } = await import("./telemetry.ts");
  return createTelemetry(env, { log: silentLog, closeMs: CLOSE_MS, ...options });
}
