/** The settings as the runtime takes them. */

import { MODEL_RETRY } from "../base/retry.ts";
import type { Config } from "./config.ts";
import { toModelOverrides } from "./config-models.ts";
import type { Environment } from "./paths.ts";
import type { RuntimeOptions } from "./runtime.ts";

export function toRuntimeOptions(config: Config, { env }: { env: Environment }): RuntimeOptions {
  const storePath = config.get("store_path") ?? config.paths.runsFile;
  return {
    env,
    storePath: config.get("store") ? storePath : undefined,
    overrides: toModelOverrides(config.get("models")),
    timeouts: {
      connectMs: config.get("connect_timeout_ms"),
      firstByteMs: config.get("first_byte_timeout_ms"),
      idleMs: config.get("idle_timeout_ms"),
    },
    retry: { ...MODEL_RETRY, attempts: config.get("max_retries") + 1 },
    // A vendor's own way stands until the user names another.
    ...(config.sourceOf("continuation") === "default"
      ? {}
      : { quirks: { continuation: config.get("continuation") } }),
  };
}
