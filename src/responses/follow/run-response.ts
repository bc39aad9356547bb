/** Reads a response from its run, for the client that requested it or asks again. */

import { Failure } from "../../base/failure.ts";
import type { Engine } from "../../engine/engine.ts";
import type { EmittedResponse } from "../../protocol/emitted.ts";
import type { PlacedItem } from "../fold/given-items.ts";
import { followResponse } from "../fold/read-response.ts";
import type { AskedResponse } from "../request/asked-response.ts";
import { followStored } from "./follow-stored.ts";
import type { Events, LiveResponse } from "./live-response.ts";

interface Started {
  readonly id: string;
  readonly runId: string;
  readonly asked: AskedResponse;
}

/** A response whose run has begun, in any process. */
export function toLive(place: Engine, { id, runId, asked }: Started): LiveResponse {
  const { store, background } = asked;
  let failure: Failure | undefined;
  let injected: readonly PlacedItem[] = [];
  async function* events(signal?: AbortSignal): Events {
    const onFailed = (failed: Failure): void => {
      failure = failed;
    };
    const onGiven = (items: readonly PlacedItem[]): void => {
      injected = items;
    };
    try {
      const from = { after: -1, signal, onFailed, onGiven };
      yield* store ? followStored(place, id, from) : followResponse(place, runId, from);
    } finally {
      if (!store) await forget(place, runId);
    }
  }
  return {
    id,
    asked,
    events,
    injected: () => injected,
    async end() {
      if (store) await cancelRun(place, runId);
    },
    failure: () => failure,
    async response(signal) {
      const response = await readLast(events(signal), { first: background });
      if (failure) throw failure;
      if (response) return response;
      throw new Failure("internal", `Response ${id} has no beginning.`);
    },
  };
}

/** The response of the last event, or with `first` of the first one. */
async function readLast(
  events: Events,
  { first }: { readonly first: boolean },
): Promise<EmittedResponse | undefined> {
  let response: EmittedResponse | undefined;
  for await (const batch of events) {
    for (const event of batch) {
      if ("response" in event) response = event.response;
    }
    if (first && response) break;
  }
  return response;
}

/** Ends a run that still works and removes it completely. */
async function forget(engine: Engine, runId: string): Promise<void> {
  await cancelRun(engine, runId);
  await engine.delete(runId);
}

/** Does nothing to a run that has ended. Resolves when it has. */
export async function cancelRun(engine: Engine, runId: string): Promise<void> {
  const run = await engine.status(runId);
  if (!run || run.status === "ended") return;
  try {
    await engine.cancel(runId, { tree: true });
  } catch (thrown) {
    // The run ended in the meantime.
    if ((await engine.status(runId))?.status !== "ended") throw thrown;
  }
  await engine.ended(runId);
}
