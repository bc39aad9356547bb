/** Promises and signals: concurrency with a limit, and what an aborted signal is thrown as. */

import { Failure } from "./failure.ts";

/** Runs `work` over `inputs`, at most `limit` at once, started in order; results in order. */
export async function mapConcurrent<In, Out>(
  inputs: readonly In[],
  limit: number,
  work: (input: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = new Array(inputs.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < inputs.length) {
      const index = next++;
      results[index] = await work(inputs[index] as In, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, inputs.length) }, worker));
  return results;
}

/** Rejects with the signal's own reason when it is a `Failure`, else as cancelled. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw toAbortFailure(signal);
}

export function toAbortFailure(signal: AbortSignal): Failure {
  if (signal.reason instanceof Failure) return signal.reason;
  return new Failure("cancelled", "The run was cancelled.", { cause: signal.reason });
}
