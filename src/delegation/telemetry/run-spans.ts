/**
 * The logs of runs as spans. A fold: the same events in the same order give the same spans, ids included. This file
 * knows how runs are related; `open-run.ts` has what is inside one of them.
 *
 * A child that its parent does not wait for (in another process, in the background) has a trace of its own with a
 * link, so that a child that lasts for hours does not stretch its parent's trace.
 */

import type { ChildStart, LoggedEvent, RunStart } from "../../protocol/run-events.ts";
import { type OpenRun, openRun, type Placement } from "./open-run.ts";
import { NO_SIGNALS, type Signals } from "./signals.ts";
import { encodeOutgoing, type Incoming, type TraceContext, toTraceId } from "./trace-context.ts";

export interface RunSpans {
  /** Returns the spans that this event ends, and the measurements to count. */
  observe(logged: LoggedEvent): Signals;
  /** The variables for the process of a child whose start was observed; empty for any other. */
  environmentOf(childId: string): Readonly<Record<string, string>>;
}

interface RunSpansParts {
  readonly incoming: Incoming;
  /** True if a trace that begins here is sent; `parent` is the trace that it continues. */
  isSampled(traceId: string, parent: TraceContext | undefined): boolean;
}

interface AwaitedChild {
  readonly parent: OpenRun;
  /** The span of the call that started it. */
  readonly under: TraceContext;
  readonly isApart: boolean;
}

export function createRunSpans({ incoming, isSampled }: RunSpansParts): RunSpans {
  const runs = new Map<string, OpenRun>();
  const children = new Map<string, AwaitedChild>();

  return {
    observe({ run_id, seq, event }) {
      const run = runs.get(run_id);
      if (event.type === "run_start") {
        if (!run) runs.set(run_id, openRun(event, seq, place(event)));
        return NO_SIGNALS;
      }
      // Events not from its beginning, or seen before.
      if (!run?.isNews(seq)) return NO_SIGNALS;
      const signals = run.observe(seq, event);
      if (event.type === "child_start") expect(run, event);
      if (event.type === "child_end") children.delete(event.child_id);
      if (event.type === "run_end") forget(run_id, run);
      return signals;
    },
    environmentOf(childId) {
      const child = children.get(childId);
      if (!child) return {};
      return encodeOutgoing(child.under, child.parent.conversation, incoming.baggage);
    },
  };

  function expect(parent: OpenRun, { child_id, call_key, effective }: ChildStart): void {
    const isApart = effective["executor"] === "child_process" || effective["background"] === true;
    children.set(child_id, { parent, under: parent.contextOf(call_key), isApart });
  }

  function forget(id: string, run: OpenRun): void {
    runs.delete(id);
    for (const [child, { parent }] of children) if (parent === run) children.delete(child);
  }

  function place({ run_id, parent_id, settings }: RunStart): Placement {
    const child = children.get(run_id);
    const above = parent_id === null ? undefined : runs.get(parent_id);
    const conversation =
      (child?.parent ?? above)?.conversation ??
      incoming.conversation ??
      (run_id.split("/", 1)[0] || run_id);
    if (child && !child.isApart) return { ...below(child.under), conversation };
    if (child) return { ...apart(run_id, child.under), conversation };
    // The run's start was written before a restart; its exact parent is no longer known.
    if (above) return { ...below(above.context), conversation };
    const { context } = incoming;
    // A person who starts a run inside a trace wants the run in it; a parent in another process does not.
    if (context && settings.depth === 0)
      return { ...begin(context.traceId, context), conversation };
    return { ...apart(run_id, context), conversation };
  }

  function below(parent: TraceContext): Omit<Placement, "conversation"> {
    return { trace: parent, parent, links: [] };
  }

  function apart(runId: string, link: TraceContext | undefined): Omit<Placement, "conversation"> {
    return { ...begin(toTraceId(runId), undefined), links: link ? [link] : [] };
  }

  function begin(
    traceId: string,
    parent: TraceContext | undefined,
  ): Omit<Placement, "conversation"> {
    const trace = { traceId, isSampled: isSampled(traceId, parent), state: parent?.state };
    return { trace, parent, links: [] };
  }
}
