/** Tool calls that wait for a person, of all runs. The first answer counts; one that came too late is told so here. */

import { signal, useSignal } from "@preact/signals";
import { toHref } from "../core/address.ts";
import { ApiFailure, get, post } from "../core/api.ts";
import { toDuration } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import { mayDo } from "../core/session.ts";
import type { Page, QuestionView } from "../core/views.ts";
import { colourDiff } from "../parts/code.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";

const REFRESH_MS = 2000;

/** How many wait: for the navigation, from whichever list was read last. */
const waiting = signal(0);

export function ApprovalsBadge() {
  useResource("badge", readQuestions, REFRESH_MS * 3);
  return waiting.value > 0 ? <span class="badge">{waiting.value}</span> : null;
}

async function readQuestions(stop: AbortSignal): Promise<Page<QuestionView>> {
  const page = await get<Page<QuestionView>>("approvals", {}, stop);
  waiting.value = page.data.length;
  return page;
}

export function ApprovalsView() {
  const questions = useResource("all", readQuestions, REFRESH_MS);
  return (
    <div class="view">
      <header>
        <h1>Approvals</h1>
      </header>
      {!mayDo("approve") && (
        <p class="problem">
          This session may look, and not answer: its key lacks the scope <code>approve</code>.
        </p>
      )}
      <Loaded of={questions}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Nothing waits for you.">
              A tool call that needs approval appears here while its run waits.
            </Empty>
          ) : (
            data.map((question) => (
              <QuestionCard
                key={keyOf(question)}
                question={question}
                reload={() => questions.reload()}
              />
            ))
          )
        }
      </Loaded>
    </div>
  );
}

/** Those of one run and of all below it; nothing where there are none. */
export function QuestionList({ run, every }: { readonly run: string; readonly every: number }) {
  const questions = useResource(
    run,
    (stop) => get<Page<QuestionView>>("approvals", { run }, stop),
    every,
  );
  const data = questions.value.value?.data ?? [];
  return (
    <>
      {data.map((question) => (
        <QuestionCard key={keyOf(question)} question={question} reload={() => questions.reload()} />
      ))}
    </>
  );
}

function keyOf({ run_id, question }: QuestionView): string {
  return `${run_id}:${question}`;
}

const ANSWERS = [
  ["yes", "Allow once", "main"],
  ["always", "Allow always", ""],
  ["tree", "Allow for the whole tree", ""],
  ["no", "Deny", "danger"],
] as const;

function QuestionCard({
  question,
  reload,
}: {
  readonly question: QuestionView;
  readonly reload: () => void;
}) {
  const reason = useSignal("");
  const said = useSignal("");
  const { run_id, tool, arguments: given, diff, until_ms, at_ms, asker, always } = question;
  const who = asker as { label?: string; task?: string; path?: string } | null;
  const answer = (word: string): void => {
    const body = {
      question: question.question,
      answer: word,
      ...(reason.value ? { reason: reason.value } : {}),
    };
    post(`runs/${encodeURIComponent(run_id)}/answer`, body).then(reload, (failure: Error) => {
      said.value = failure.message;
      // Somebody else was faster: the list says what is left.
      if (failure instanceof ApiFailure && failure.status === 409) reload();
    });
  };
  return (
    <article class="panel question" aria-label={`${tool} waits for approval`}>
      <header>
        <b>
          <span class="warn">? </span>
          {who ? `Subagent ${who.label ?? ""}` : "The run"} wants to call <code>{tool}</code>
        </b>
        <span class="quiet">
          asked {toDuration(Date.now() - at_ms)} ago
          {until_ms ? `, denied in ${toDuration(Math.max(0, until_ms - Date.now()))}` : ""}
        </span>
      </header>
      <div class="body">
        <p class="quiet clip">
          <a href={toHref(`runs/${encodeURIComponent(question.root_id)}`)}>
            {question.title || run_id}
          </a>
          {who?.task ? ` · ${who.task}` : ""}
        </p>
        {diff ? (
          <pre class="code-diff">{colourDiff(diff)}</pre>
        ) : (
          <pre class="plain arguments">{given}</pre>
        )}
        <p class="quiet">
          {question.reason} Effect: {question.effect}. Sandbox: {question.sandbox}.
          {always.length > 0 && (
            <>
              {" "}
              “Always” allows <code>{always.join(", ")}</code>.
            </>
          )}
        </p>
        <div class="row">
          {ANSWERS.map(([word, label, tone]) => (
            <button
              key={word}
              type="button"
              class={tone}
              disabled={!mayDo("approve")}
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
        {said.value !== "" && (
          <p class="problem" role="alert">
            {said.value}
          </p>
        )}
      </div>
    </article>
  );
}
