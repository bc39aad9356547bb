/** Telemetry, loaded only if OpenTelemetry's variables name a collector. */

import type { Environment } from "../../base/environment.ts";
import { silentLog } from "../../base/log.ts";
import type { Telemetry, TelemetryOptions } from "./telemetry.ts";

/** The most that a command which is done waits for a slow collector. */
const CLOSE_MS = 2000;

type OpenOptions = Pick<TelemetryOptions, "version"> & Partial<TelemetryOptions>;

/** Undefined if nothing is sent anywhere. Never rejects because of invalid variables. */
export async function openTelemetry(
  env: Environment,
  options: OpenOptions,
): Promise<Telemetry | undefined> {
  const isNamed = Object.keys(env).some((name) =>
    /^OTEL_EXPORTER_OTLP_(\w+_)?ENDPOINT$/.test(name),
  );
  if (!isNamed) return undefined;
  const { createTelemetry } = await import("./telemetry.ts");
  return createTelemetry(env, { log: silentLog, closeMs: CLOSE_MS, ...options });
}
