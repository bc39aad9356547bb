/** The settings as the runtime takes them. */

import { systemClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { createRedact, findSecrets } from "../base/redact.ts";
import { MODEL_RETRY } from "../base/retry.ts";
import type { Quirks } from "../providers/wire.ts";
import type { Config } from "./config.ts";
import { toModelOverrides } from "./config-models.ts";
import type { Environment } from "./paths.ts";
import type { RuntimeOptions } from "./runtime.ts";

interface Surroundings {
  readonly env: Environment;
  /** Where the log for operators goes, when `OFFSHOOT_LOG` asks for one. */
  readonly stderr: { write(text: string): unknown };
}

export function toRuntimeOptions(config: Config, { env, stderr }: Surroundings): RuntimeOptions {
  const storePath = config.get("store_path") ?? config.paths.runsFile;
  const log = createLog("provider", {
    setting: env["OFFSHOOT_LOG"],
    clock: systemClock,
    redact: createRedact(findSecrets(env)),
    write: (line) => stderr.write(line),
  });
  return {
    env,
    log,
    storePath: config.get("store") ? storePath : undefined,
    overrides: toModelOverrides(config.get("models")),
    timeouts: {
      connectMs: config.get("connect_timeout_ms"),
      firstByteMs: config.get("first_byte_timeout_ms"),
      idleMs: config.get("idle_timeout_ms"),
    },
    retry: { ...MODEL_RETRY, attempts: config.get("max_retries") + 1 },
    quirks: toQuirks(config),
  };
}

/** What the user named; a vendor's own way stands for the rest. */
function toQuirks(config: Config): Quirks {
  const isNamed = config.sourceOf("continuation") !== "default";
  const keepAlive = config.get("ollama_keep_alive");
  const numCtx = config.get("ollama_num_ctx");
  return {
    ...(isNamed ? { continuation: config.get("continuation") } : {}),
    ...(keepAlive === undefined ? {} : { keepAlive }),
    ...(numCtx === undefined ? {} : { numCtx }),
  };
}
