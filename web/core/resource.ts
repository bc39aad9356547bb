/**
 * What a view shows of the server: loading, there, or failed with a sentence. While it is asked for again
 * the old value stays on the page, so nothing jumps, and a server that restarts costs nobody a reload.
 */

import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { session } from "./session.ts";

export interface Resource<Value> {
  readonly value: Signal<Value | undefined>;
  /** Why the last try failed; empty where it did not. */
  readonly problem: Signal<string>;
  readonly loading: Signal<boolean>;
  reload(): void;
}

/** Loads when `key` or who is signed in changes, and every `everyMs` while the page is visible if that is given. */
export function useResource<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  everyMs = 0,
): Resource<Value> {
  const resource = useMemo(() => createResource(load), [key]);
  const token = session.value?.token;
  useEffect(() => {
    if (token === undefined) return;
    resource.reload();
    if (everyMs === 0) return () => resource.stop();
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") resource.reload();
    }, everyMs);
    return () => {
      clearInterval(timer);
      resource.stop();
    };
  }, [resource, everyMs, token]);
  return resource;
}

function createResource<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
): Resource<Value> & { stop(): void } {
  const value = signal<Value | undefined>(undefined);
  const problem = signal("");
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
          problem.value = "";
          loading.value = false;
        },
        (failure: unknown) => {
          if (mine.signal.aborted) return;
          problem.value = failure instanceof Error ? failure.message : String(failure);
          loading.value = false;
        },
      );
    },
  };
}
