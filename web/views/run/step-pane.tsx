/**
 * One step of a run: a model call with its exact request and answer, a tool call with the decision, or a summary.
 */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, runPath } from "../../core/api.ts";
import { toCount, toDuration, toMoney } from "../../core/format.ts";
import { useResource } from "../../core/resource.ts";
import type { CompactionStep, StepView } from "../../core/views.ts";
import { Json } from "../../parts/code.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { CallPane } from "./call-pane.tsx";
import { Facts } from "./facts.tsx";
import { LongText } from "./long-text.tsx";
import type { RunStream } from "./run-stream.ts";
import { TurnPane } from "./turn-pane.tsx";

interface StepPaneProps {
  readonly run: string;
  readonly seq: number;
  readonly root: string;
  readonly stream: RunStream;
}

export function StepPane({ run, seq, root, stream }: StepPaneProps) {
  const step = useResource(`${run} ${seq}`, (signal) =>
    get<StepView>(`${runPath(run)}/steps/${seq}`, {}, signal),
  );
  const isOpen = step.value.value?.ended_at_ms === null;
  useEffect(() => {
    if (!isOpen) return;
    return stream.listen((events) => {
      if (events.some(({ type }) => /_(end|decision|question)$/.test(type))) step.reload();
    }, run);
  }, [isOpen, run, stream, step]);
  return <Loaded of={step}>{(view) => <StepBody step={view} root={root} />}</Loaded>;
}

function StepBody({ step, root }: { readonly step: StepView; readonly root: string }) {
  const isRaw = useSignal(false);
  return (
    <div class="stack">
      {isRaw.value ? (
        <Json value={step} name="Step" />
      ) : step.kind === "turn" ? (
        <TurnPane step={step} />
      ) : step.kind === "call" ? (
        <CallPane step={step} root={root} />
      ) : (
        <CompactionPane step={step} />
      )}
      {step.clipped
        .filter(({ kind }) => kind === "text")
        .map(({ path, length }) => (
          <div key={path}>
            <code>{path}</code>
            <LongText rest={{ run: step.run_id, seq: step.seq, path, length }} of="steps" />
          </div>
        ))}
      <button
        type="button"
        class="plain small"
        aria-pressed={isRaw.value}
        onClick={() => {
          isRaw.value = !isRaw.value;
        }}
      >
        {isRaw.value ? "For people" : "As JSON"}
      </button>
    </div>
  );
}

function CompactionPane({ step }: { readonly step: CompactionStep }) {
  return (
    <>
      <h2>Summary before turn {step.turn}</h2>
      <Facts
        of={{
          Before: `${toCount(step.tokens_before)} tokens`,
          After: `${toCount(step.tokens_after)} tokens`,
          Items: toCount(step.items),
          Cost: toMoney(step.cost_usd),
          Took: toDuration((step.ended_at_ms ?? step.started_at_ms) - step.started_at_ms),
        }}
      />
      <Markdown text={step.summary} />
    </>
  );
}
