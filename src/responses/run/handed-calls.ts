/**
 * Model calls that were made before their runs began: a run takes the call that is on its way in place of its first.
 * Of one process: whoever takes such a run over makes the call again, as for any call that a dead process left.
 */

import { toAbortFailure } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import type { Notice } from "../../protocol/run-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { ModelCall, ModelRequest, Provider, WholeAnswer } from "../../providers/provider.ts";

type Told = Omit<Notice, "type">;

/** A call that is on its way, and whatever it has told so far. */
export interface HandedCall {
  readonly answer: Promise<WholeAnswer>;
  readonly notices: readonly Told[];
  /** Tells `call` all that was told so far and is told from now on; ends with its signal. */
  join(call: ModelCall): void;
  /** Ends it, if it is still on its way. */
  stop(): void;
}

export interface Asking {
  readonly request: ModelRequest;
  readonly run: string;
  readonly owner: string;
}

/** Asks a model for a whole answer. */
export type Ask = NonNullable<Provider["answer"]>;

export function makeCall(ask: Ask, { request, run, owner }: Asking): HandedCall {
  const stop = new AbortController();
  const notices: Told[] = [];
  let joined: ModelCall | undefined;
  let sent: { readonly to: string | undefined } | undefined;
  let counted: Usage | undefined;
  const answer = ask(request, {
    signal: stop.signal,
    run,
    owner,
    notice(told) {
      notices.push(told);
      joined?.notice?.(told);
    },
    onSend(to) {
      sent = { to };
      joined?.onSend?.(to);
    },
    onUsage(usage) {
      counted = usage;
      joined?.onUsage?.(usage);
    },
  });
  // Whoever takes it is told; it may have failed before.
  answer.catch(() => {});
  return {
    answer,
    notices,
    stop: () => stop.abort(new Failure("cancelled", "Cancelled.")),
    join(call) {
      joined = call;
      for (const told of notices) call.notice?.(told);
      if (sent) call.onSend?.(sent.to);
      if (counted) call.onUsage?.(counted);
      const { signal } = call;
      const onAbort = (): void => stop.abort(toAbortFailure(signal));
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
      const left = (): void => signal.removeEventListener("abort", onAbort);
      answer.then(left, left);
    },
  };
}

/** By the ids of their runs. Whoever puts one there begins the run. */
export type HandedCalls = Map<string, HandedCall>;

/** The model, whose first answer is that of the call. */
export function takeHanded<T extends { readonly provider: Provider }>(
  model: T,
  calls: HandedCalls,
  runId: string,
): T {
  const { provider } = model;
  let handed = calls.get(runId);
  if (!handed) return model;
  calls.delete(runId);
  const stream: Provider["stream"] = async function* (request, call) {
    const made = handed;
    handed = undefined;
    if (!made) return yield* provider.stream(request, call);
    made.join(call);
    const { events, failure } = await made.answer;
    yield events;
    if (failure) throw failure;
  };
  return { ...model, provider: { ...provider, stream } };
}
