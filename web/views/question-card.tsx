/** A tool call that waits for a person: what it would do, and the answers. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useAction } from "../core/act.ts";
import { toHref } from "../core/address.ts";
import { ApiFailure, get, post, runPath } from "../core/api.ts";
import { now, useClock } from "../core/clock.ts";
import { toAgo } from "../core/format.ts";
import { mayDo } from "../core/session.ts";
import type { QuestionView } from "../core/views.ts";
import { visible } from "../core/visible.ts";
import { Code, pretty } from "../parts/code.tsx";
import { Diff } from "../parts/diff.tsx";
import { Icon } from "../parts/icon.tsx";
import { Said } from "../parts/loaded.tsx";

interface QuestionProps {
  readonly question: QuestionView;
  readonly isOpen: boolean;
  readonly reload: () => void;
  readonly putAway: () => void;
}

const ANSWERS = [
  ["yes", "Allow once", "main"],
  ["always", "Allow always", ""],
  ["tree", "Allow for the whole tree", ""],
  ["no", "Deny", "danger"],
] as const;

type Answer = (typeof ANSWERS)[number][0];

export function QuestionCard({ question, isOpen, reload, putAway }: QuestionProps) {
  const reason = useSignal("");
  const action = useAction();
  useClock(isOpen);
  const who = question.asker as { label?: string; task?: string } | null;
  const answer = async (word: Answer): Promise<void> => {
    const isTaken = await action.run(() => send(question, word, reason.value));
    if (isTaken) putAway();
    reload();
  };
  return (
    <article
      class={isOpen ? "panel question" : "panel question over"}
      aria-label={`${question.tool} waits for approval`}
    >
      <header>
        <span class="row">
          <Icon name="question" />
          <b>
            {who ? `Subagent ${visible(who.label ?? "")}` : "The run"} wants to call{" "}
            <span class="mono">{visible(question.tool)}</span>
          </b>
        </span>
        <span class="quiet">
          asked {toAgo(question.at_ms, now.value)}
          {isOpen && question.until_ms ? `, expires ${toAgo(question.until_ms, now.value)}` : ""}
        </span>
      </header>
      <div class="body stack">
        <p class="quiet clip">
          <a
            href={toHref(
              `runs/${encodeURIComponent(question.root_id)}?node=${encodeURIComponent(question.run_id)}`,
            )}
          >
            {visible(question.title) || question.run_id}
          </a>
          {who?.task ? `: ${visible(who.task)}` : ""}
        </p>
        {question.diff ? (
          <Diff text={question.diff} />
        ) : (
          <Code text={pretty(question.arguments)} language="arguments" />
        )}
        <About question={question} />
        {isOpen ? (
          <Answers
            reason={reason}
            isBusy={action.busy.value}
            answer={(word) => void answer(word)}
          />
        ) : (
          <Decided question={question} typed={reason.value} putAway={putAway} />
        )}
        {isOpen && <Said of={action} />}
      </div>
    </article>
  );
}

/**
 * An answer that came too late says what was decided; the card says so too, once the list is read again.
 */
async function send(question: QuestionView, answer: Answer, reason: string): Promise<undefined> {
  await post(`${runPath(question.run_id)}/answer`, {
    question: question.question,
    answer,
    ...(reason.trim() ? { reason: reason.trim() } : {}),
  });
  return undefined;
}

function About({ question }: { readonly question: QuestionView }) {
  return (
    <p class="quiet">
      {question.reason.replace(/[^.]$/, "$&.")} Effect: {question.effect}. Sandbox:{" "}
      {question.sandbox}.
      {question.always.length > 0 && (
        <>
          {" "}
          “Always” allows <code>{visible(question.always.join(", "))}</code>.
        </>
      )}
    </p>
  );
}

interface AnswersProps {
  readonly reason: { value: string };
  readonly isBusy: boolean;
  answer(word: Answer): void;
}

function Answers({ reason, isBusy, answer }: AnswersProps) {
  const mayAnswer = mayDo("approve");
  return (
    <div class="row">
      {ANSWERS.map(([word, label, tone]) => (
        <button
          key={word}
          type="button"
          class={tone}
          disabled={!mayAnswer || isBusy}
          onClick={() => answer(word)}
        >
          {label}
        </button>
      ))}
      <input
        type="text"
        class="grow"
        aria-label="Why, for the model"
        placeholder="Why not, for the model (optional)"
        value={reason.value}
        onInput={(event) => {
          reason.value = event.currentTarget.value;
        }}
      />
    </div>
  );
}

interface DecidedProps {
  readonly question: QuestionView;
  readonly typed: string;
  readonly putAway: () => void;
}

function Decided({ question, typed, putAway }: DecidedProps) {
  const said = useSignal("It was answered elsewhere.");
  useEffect(() => {
    const path = `${runPath(question.run_id)}/questions/${encodeURIComponent(question.question)}`;
    get<QuestionView>(path).then(
      ({ verdict, decided }) => {
        said.value =
          verdict === null
            ? "The run has ended or asked again. It no longer waits for this answer."
            : `It was answered elsewhere: ${verdict === "allow" ? "allowed" : "denied"}. ${decided ?? ""}`;
      },
      (failure: unknown) => {
        if (failure instanceof ApiFailure) said.value = failure.message;
      },
    );
  }, [question, said]);
  return (
    <p class="notice live" role="status">
      <span class="grow">
        {said.value}
        {typed && <> You had typed: “{typed}”</>}
      </span>
      <button type="button" class="small" onClick={putAway}>
        Put away
      </button>
    </p>
  );
}
