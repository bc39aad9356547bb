/**
 * Server data in a view: loading, loaded, or failed with a sentence. While it is loaded again, the old value stays on
 * the page. So nothing jumps, and a restart of the server needs no reload.
 */

import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiFailure } from "./api.ts";
import { session } from "./session.ts";

export interface Resource<Value> {
  readonly value: Signal<Value | undefined>;
  /** The failure of the last try; undefined if it succeeded. */
  readonly problem: Signal<ApiFailure | undefined>;
  readonly loading: Signal<boolean>;
  reload(): void;
}

/** A server that does not answer is asked again automatically. */
const AGAIN_MS = 2500;

interface Options {
  /** How often to load again while the page is visible; never when left out. */
  readonly everyMs?: number;
  /** Loaded again when this value changes. */
  readonly news?: string;
}

/** Loads when `key` or the session changes. */
export function useResource<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  { everyMs = 0, news = "" }: Options = {},
): Resource<Value> {
  const resource = useMemo(() => createResource(load), [key]);
  const token = session.value?.token;
  useEffect(() => {
    if (token === undefined) return;
    resource.reload();
    return () => resource.stop();
  }, [resource, token]);
  useEffect(() => {
    if (news !== "" && resource.value.peek() !== undefined) resource.reload();
  }, [resource, news]);
  const isLost = resource.problem.value?.status === 0;
  const periodMs = isLost ? AGAIN_MS : everyMs;
  useEffect(() => {
    if (periodMs === 0) return;
    const timer = setInterval(() => {
      if (!document.hidden && session.peek()) resource.reload();
    }, periodMs);
    return () => clearInterval(timer);
  }, [resource, periodMs]);
  return resource;
}

function createResource<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
): Resource<Value> & { stop(): void } {
  const value = signal<Value | undefined>(undefined);
  const problem = signal<ApiFailure | undefined>(undefined);
  const loading = signal(true);
  let asked: AbortController | undefined;
  return {
    value,
    problem,
    loading,
    stop: () => asked?.abort(),
    reload() {
      asked?.abort();
      const mine = new AbortController();
      asked = mine;
      loading.value = true;
      load(mine.signal).then(
        (loaded) => {
          if (mine.signal.aborted) return;
          value.value = loaded;
          problem.value = undefined;
          loading.value = false;
        },
        (failure: unknown) => {
          if (mine.signal.aborted) return;
          problem.value =
            failure instanceof ApiFailure ? failure : new ApiFailure(-1, "", String(failure));
          loading.value = false;
        },
      );
    },
  };
}
