/**
 * The one stream of a run's page: events of the run and of all runs below it, from the present on. Views read earlier
 * events from the record. Events are passed on a few times a second, however fast they come.
 */

import { batch, type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type ApiFailure, runPath } from "../../core/api.ts";
import { follow } from "../../core/follow.ts";
import { countQuestions, holdNews } from "../../core/news.ts";
import { session } from "../../core/session.ts";
import type { EventView, FollowFrame } from "../../core/views.ts";

/** Interval between two updates of the page. */
const FLUSH_MS = 120;

export type Listener = (events: readonly EventView[], run: string) => void;

export interface RunStream {
  /** The reason why the page is not live; undefined if it is, or if the run has ended. */
  readonly problem: Signal<ApiFailure | undefined>;
  /** Grows each time the stream is opened: events that were missed meanwhile must be read. */
  readonly opened: Signal<number>;
  /** Passes on events of one run, or of all runs when left out. The returned function ends it. */
  listen(listener: Listener, run?: string): () => void;
}

interface Inside extends RunStream {
  take(frame: FollowFrame): void;
  flush(): void;
}

/** Follows while `isLive`; a run that has ended has no new events. */
export function useRunStream(id: string, isLive: boolean): RunStream {
  const stream = useMemo(() => createStream(), [id]);
  const token = session.value?.token;
  useEffect(() => {
    if (token === undefined || !isLive) return;
    const stop = new AbortController();
    const release = holdNews();
    void follow(
      {
        path: `${runPath(id)}/follow`,
        query: () => ({ after: "now", tree: "live" }),
        take: (data) => stream.take(data as FollowFrame),
        opened() {
          stream.opened.value += 1;
        },
        state(problem) {
          stream.problem.value = problem;
        },
      },
      stop.signal,
    );
    return () => {
      stop.abort();
      stream.flush();
      stream.problem.value = undefined;
      release();
    };
  }, [id, isLive, token, stream]);
  return stream;
}

const ASKING: ReadonlySet<string> = new Set(["tool_question", "tool_decision", "run_end"]);

function createStream(): Inside {
  const listeners = new Map<Listener, string | undefined>();
  let waiting: FollowFrame[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const frames = join(waiting);
    waiting = [];
    batch(() => {
      for (const { run_id, events } of frames) {
        for (const [listener, run] of listeners) {
          if (run === undefined || run === run_id) listener(events, run_id);
        }
      }
    });
    const isAsking = frames.some(({ events }) => events.some(({ type }) => ASKING.has(type)));
    if (isAsking) void countQuestions().catch(() => {});
  };
  return {
    problem: signal<ApiFailure | undefined>(undefined),
    opened: signal(0),
    flush,
    take(frame) {
      waiting.push(frame);
      timer ??= setTimeout(flush, FLUSH_MS);
    },
    listen(listener, run) {
      listeners.set(listener, run);
      return () => listeners.delete(listener);
    },
  };
}

/** Joins consecutive frames of one run. */
function join(frames: readonly FollowFrame[]): FollowFrame[] {
  const joined: { run_id: string; events: EventView[] }[] = [];
  for (const { run_id, events } of frames) {
    const last = joined.at(-1);
    if (last?.run_id === run_id) last.events.push(...events);
    else joined.push({ run_id, events: [...events] });
  }
  return joined;
}
