/** A tool call: its arguments, who allowed or refused it, its changes, its result. */

import { toDuration, toTime } from "../../core/format.ts";
import type { CallStep, DecisionView } from "../../core/views.ts";
import { Code, pretty } from "../../parts/code.tsx";
import { Diff } from "../../parts/diff.tsx";
import { Status } from "../../parts/status.tsx";
import { Facts } from "./facts.tsx";
import { ChangeCard } from "./files-tab.tsx";
import { type Fields, outputOf } from "./item-text.ts";
import { Pictures } from "./pictures.tsx";

export function CallPane({ step, root }: { readonly step: CallStep; readonly root: string }) {
  const { decisions, changes, processes, output } = step;
  const last = decisions.at(-1);
  return (
    <>
      <div class="row spread">
        <h2 class="mono">{step.name}</h2>
        <Status state={stateOf(step)} />
      </div>
      <Facts
        of={{
          "Decided by": last?.by ?? (step.question ? "no person yet" : "not yet"),
          Sandbox: last?.sandbox,
          Programs: processes > 0 ? String(processes) : undefined,
          Files: changes.length > 0 ? String(changes.length) : undefined,
          Took:
            step.ended_at_ms === null ? "open" : toDuration(step.ended_at_ms - step.started_at_ms),
          Began: toTime(step.started_at_ms),
        }}
      />
      {decisions.map((decision, at) => (
        <Decision key={at} decision={decision} />
      ))}
      <Code text={pretty(step.arguments)} language="arguments" />
      {changes.map((change, at) => (
        <ChangeCard key={at} change={change} root={root} />
      ))}
      {output && <Output item={output as Fields} />}
    </>
  );
}

function stateOf({ decisions, output, failed }: CallStep): string {
  if (decisions.at(-1)?.verdict === "deny") return "denied";
  if (output === null) return "running";
  return failed ? "failed" : "completed";
}

function Decision({ decision }: { readonly decision: DecisionView }) {
  const { verdict, by, about, rule, source, reason, hook } = decision;
  const isDenied = verdict === "deny";
  return (
    <div class={isDenied ? "notice bad" : "notice"}>
      <span class="grow">
        <b>{isDenied ? "Denied" : "Allowed"}</b> by {hook ? `hook ${hook}` : by}
        {rule && (
          <>
            : <code>{rule}</code>
          </>
        )}
        {source && <span class="quiet"> ({source})</span>}
        <br />
        <span class="quiet">
          {reason} {about}
        </span>
      </span>
    </div>
  );
}

function Output({ item }: { readonly item: Fields }) {
  const { text, pictures } = outputOf(item);
  const isDiff = /^(---|diff --git|@@) /m.test(text.slice(0, 500));
  return (
    <>
      {isDiff ? <Diff text={text} /> : <Code text={pretty(text)} language="result" />}
      <Pictures urls={pictures} />
    </>
  );
}
