import { toAbortFailure } from "../../../base/async.ts";

/** Waits until the signal aborts at most. Others may wait for the same thing, so it goes on. */
export async function untilAborted<Out>(shared: Promise<Out>, signal: AbortSignal): Promise<Out> {
  shared.catch(() => {});
  if (signal.aborted) throw toAbortFailure(signal);
  let stop: (() => void) | undefined;
  const cut = new Promise<never>((_, reject) => {
    stop = () => reject(toAbortFailure(signal));
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([shared, cut]);
  } finally {
    if (stop) signal.removeEventListener("abort", stop);
  }
}
