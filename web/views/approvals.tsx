/**
 * Tool calls of all runs that wait for a person. The first answer counts; a later one gets a message here that it was
 * too late.
 */

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get } from "../core/api.ts";
import { openQuestions } from "../core/news.ts";
import { useResource } from "../core/resource.ts";
import { mayDo } from "../core/session.ts";
import type { QuestionView, RecordPage } from "../core/views.ts";
import { Empty, Loaded, Problem, ViewHead } from "../parts/loaded.tsx";
import { QuestionCard } from "./question-card.tsx";
import type { RunStream } from "./run/run-stream.ts";

export function ApprovalsBadge() {
  const count = openQuestions.value ?? 0;
  if (count === 0) return null;
  return (
    <span class="badge" aria-label={`${count} open`}>
      {count}
    </span>
  );
}

export function ApprovalsView() {
  const questions = useResource(
    "all",
    async (stop) => {
      const page = await get<RecordPage<QuestionView>>("approvals", { limit: 100 }, stop);
      openQuestions.value = page.data.length;
      return page;
    },
    { news: String(openQuestions.value ?? "") },
  );
  return (
    <div class="view page">
      <ViewHead
        title="Approvals"
        about="Tool calls that wait for a person. The first answer counts."
      />
      {!mayDo("approve") && (
        <p class="notice warn">
          This session may look, and not answer: its key lacks the scope approve.
        </p>
      )}
      <Loaded of={questions}>
        {({ data }) => (
          <Cards open={data} reload={() => questions.reload()}>
            <Empty title="Nothing waits for you." icon="approvals">
              A tool call that needs approval appears here while its run waits.
            </Empty>
          </Cards>
        )}
      </Loaded>
    </div>
  );
}

interface QuestionListProps {
  readonly run: string;
  readonly isLive: boolean;
  readonly stream: RunStream;
}

/** The questions of one run and of all runs below it; nothing if there are none. */
export function QuestionList({ run, isLive, stream }: QuestionListProps) {
  const news = useSignal(0);
  useEffect(
    () =>
      stream.listen((events) => {
        if (events.some(({ type }) => type === "tool_question" || type === "tool_decision")) {
          news.value += 1;
        }
      }),
    [stream, news],
  );
  const questions = useResource(
    run,
    (stop) =>
      isLive
        ? get<RecordPage<QuestionView>>("approvals", { run }, stop)
        : Promise.resolve({ object: "list" as const, data: [], next: null }),
    { news: `${news.value} ${stream.opened.value} ${isLive}` },
  );
  const problem = questions.problem.value;
  return (
    <>
      {problem && problem.status > 0 && problem.status !== 404 && (
        <Problem text={problem.message} />
      )}
      <Cards open={questions.value.value?.data ?? []} reload={() => questions.reload()} />
    </>
  );
}

interface CardsProps {
  readonly open: readonly QuestionView[];
  readonly reload: () => void;
  /** Shown if there are none. */
  readonly children?: preact.ComponentChildren;
}

/**
 * A question that was answered elsewhere stays in its place, says what was decided, and keeps the typed text until
 * the person dismisses it.
 */
function Cards({ open, reload, children }: CardsProps) {
  const kept = useKept(open);
  if (kept.value.length === 0) return <>{children ?? null}</>;
  const isOpen = new Set(open.map(keyOf));
  return (
    <>
      {kept.value.map((question) => (
        <QuestionCard
          key={keyOf(question)}
          question={question}
          isOpen={isOpen.has(keyOf(question))}
          reload={reload}
          putAway={() => {
            kept.value = kept.value.filter((one) => keyOf(one) !== keyOf(question));
          }}
        />
      ))}
    </>
  );
}

/** All questions that were open since the page shows them, in the order in which they came. */
function useKept(open: readonly QuestionView[]): Signal<readonly QuestionView[]> {
  const kept = useSignal<readonly QuestionView[]>(open);
  const seen = useRef(new Set<string>());
  useEffect(() => {
    const known = new Set(kept.peek().map(keyOf));
    const fresh = open.filter((one) => !known.has(keyOf(one)) && !seen.current.has(versionOf(one)));
    for (const one of open) seen.current.add(versionOf(one));
    if (fresh.length > 0) kept.value = [...kept.peek(), ...fresh];
  }, [open, kept]);
  return kept;
}

export function keyOf({ run_id, question }: QuestionView): string {
  return `${run_id}:${question}`;
}

/** A run that was taken over asks again under the same name. */
function versionOf(question: QuestionView): string {
  return `${keyOf(question)} ${question.at_ms}`;
}
