/** The tool calls of a run, as spans. Several may be open at once, and ids may repeat. */

import type { ToolDecision, ToolEnd, ToolStart } from "../../protocol/run-events.ts";
import {
  type Fields,
  OPERATIONS,
  SPAN_EVENTS,
  type SpanAttributes,
  toAttributes,
} from "./genai.ts";
import { type OpenSpan, openSpan } from "./open-span.ts";
import type { Span } from "./signals.ts";
import type { TraceContext } from "./trace-context.ts";

export interface CallSpans {
  /** A turn begins: its calls are counted from 0. */
  begin(): void;
  start(seq: number, event: ToolStart): void;
  decide(event: ToolDecision): void;
  end(event: ToolEnd): Span | undefined;
  endAll(atMs: number, attributes: SpanAttributes, error: string): Span[];
  /** The call of this key; undefined when it cannot be told from the others. */
  of(callKey: string): OpenSpan | undefined;
}

interface CallSpansParts {
  /** The span of the run. */
  readonly parent: TraceContext;
  readonly who: Fields;
}

interface OpenCall {
  readonly id: string;
  readonly span: OpenSpan;
  isDenied: boolean;
  isDecided: boolean;
}

export function createCallSpans(runId: string, { parent, who }: CallSpansParts): CallSpans {
  /** The calls of the turn, in the model's order, unless a restart has left some out. */
  let calls: OpenCall[] = [];
  let isWhole = true;

  const open = (): OpenCall[] => calls.filter(({ span }) => span.isOpen);
  return {
    begin() {
      calls = [];
      isWhole = true;
    },
    start(seq, { call_id, name, at_ms }) {
      const span = openSpan(runId, seq, {
        trace: parent,
        parent,
        kind: "internal",
        startMs: at_ms,
        name: `${OPERATIONS.tool} ${name}`,
        attributes: toAttributes({
          operation: OPERATIONS.tool,
          ...who,
          tool: name,
          tool_type: "function",
          call_id,
        }),
      });
      calls.push({ id: call_id, span, isDenied: false, isDecided: false });
    },
    decide({ call_id, verdict, by: decided_by, rule, sandbox, at_ms }) {
      const same = open().filter(({ id }) => id === call_id);
      // A call that was allowed may be stopped by a guard later: its second decision.
      const call = same.find(({ isDecided }) => !isDecided) ?? same[0];
      if (!call) return;
      call.isDecided = true;
      call.isDenied = verdict === "deny";
      const attributes = toAttributes({ verdict, decided_by, rule, sandbox });
      call.span.event({ name: SPAN_EVENTS.decision, atMs: at_ms, attributes });
    },
    end({ call_id, failed, at_ms }) {
      const call = open().find(({ id }) => id === call_id);
      if (!call) return undefined;
      const problem = toProblem(call, failed);
      return call.span.end(at_ms, toAttributes({ error: problem?.error }), problem?.summary);
    },
    endAll(atMs, attributes, error) {
      isWhole = false;
      return open().map(({ span }) => span.end(atMs, attributes, error));
    },
    of(callKey) {
      const place = /tool:\d+\.(\d+)$/.exec(callKey)?.[1];
      if (isWhole && place !== undefined) return calls[Number(place)]?.span;
      const [only, ...more] = open();
      return more.length === 0 ? only?.span : undefined;
    },
  };
}

function toProblem(
  { isDenied }: OpenCall,
  failed: boolean,
): { readonly error: string; readonly summary: string } | undefined {
  if (isDenied) return { error: "forbidden", summary: "The call was not allowed." };
  return failed ? { error: "tool_failed", summary: "The tool reported an error." } : undefined;
}
