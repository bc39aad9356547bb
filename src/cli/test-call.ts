/** Makes one short call to a model, to test its key: for `offshoot auth test` and the setup. */

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
  /** The address; the vendor's own when left out. */
  readonly url?: string | undefined;
  readonly io: Io;
  readonly signal?: AbortSignal | undefined;
}

/** Models that think spend tokens before their first word. */
const MAX_OUTPUT_TOKENS = 512;

/** A server on this machine may have to load its model first. */
const LIMIT_MS = 120_000;

/**
 * Not recorded, without tools and without a second try. Rejects with the vendor's own words if it fails.
 */
export async function makeTestCall({ config, ref, url, io, signal }: TestedCall): Promise<RunEnd> {
  const network = createCommandNetwork(io);
  const settings = toRuntimeOptions(config, io);
  const retry = settings.retry && { ...settings.retry, attempts: 1 };
  const runtime = await createRuntime({
    ...settings,
    retry,
    storePath: undefined,
    engine: "own",
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
    // An answer that was truncated for its length also shows that the key is accepted.
    if (end.ending === "completed" || end.usage.output_tokens > 0) return end;
    throw new Failure(end.error?.code ?? "internal", end.error?.message ?? end.message);
  } finally {
    await runtime.close();
    await network.close();
  }
}
