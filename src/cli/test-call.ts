/** One short call to a model, to see whether its key is taken: for `offshoot auth test` and the first hour. */

import { Failure } from "../base/failure.ts";
import type { RunEnd } from "../protocol/run-events.ts";
import type { Config } from "../runtime/config/config.ts";
import { addressOfModel } from "../runtime/model-address.ts";
import { createRuntime } from "../runtime/runtime.ts";
import { toRuntimeOptions } from "../runtime/settings.ts";
import { createCommandNetwork } from "./command-network.ts";
import type { Io } from "./io.ts";

export interface TestedCall {
  readonly config: Config;
  /** `vendor/model`. */
  readonly ref: string;
  /** Where it is asked; the vendor's own address where it is left out. */
  readonly url?: string | undefined;
  readonly io: Io;
  readonly signal?: AbortSignal | undefined;
}

/** Models that think spend tokens before their first word. */
const MAX_OUTPUT_TOKENS = 512;

/** A server on this machine may have to load its model first. */
const LIMIT_MS = 120_000;

/** Not recorded, with no tools and no second try. Rejects with the vendor's own words where it fails. */
export async function makeTestCall({ config, ref, url, io, signal }: TestedCall): Promise<RunEnd> {
  const network = createCommandNetwork(io);
  const settings = toRuntimeOptions(config, io);
  const retry = settings.retry && { ...settings.retry, attempts: 1 };
  const runtime = await createRuntime({
    ...settings,
    ...{ retry, storePath: undefined, engine: "own" },
    transport: network.open,
  });
  try {
    const address = addressOfModel(config, ref);
    const run = await runtime.run({
      model: ref,
      input: "Answer with the word ok.",
      url: url ?? address.url ?? null,
      api_key_name: address.apiKeyName ?? null,
      max_turns: 1,
      max_output_tokens: MAX_OUTPUT_TOKENS,
      timeoutMs: LIMIT_MS,
    });
    const stop = (): void => void run.cancel().catch(() => {});
    signal?.addEventListener("abort", stop, { once: true });
    const end = await run.result();
    signal?.removeEventListener("abort", stop);
    // An answer that was cut for its length shows as well that the key is taken.
    if (end.ending === "completed" || end.usage.output_tokens > 0) return end;
    throw new Failure(end.error?.code ?? "internal", end.error?.message ?? end.message);
  } finally {
    await runtime.close();
    await network.close();
  }
}
