/**
 * Answers approval questions from outside the run that asks. Questions are found in the record, answered by a message,
 * and the run's own decision says whose answer counted. So any process may answer, and exactly one answer is taken.
 */

import { type Clock, systemClock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import { makeId } from "../base/ids.ts";
import { storedObject } from "../base/stored.ts";
import { clip } from "../base/text.ts";
import { toCallText } from "../delegation/ledger/run-figures.ts";
import { toEnded } from "../engine/ending.ts";
import type { Engine, RecordReader } from "../engine/engine.ts";
import { readLog } from "../engine/read-log.ts";
import { createOpenToolQuestions } from "../protocol/open-questions.ts";
import type { RunEvent, ToolDecision } from "../protocol/run-events.ts";
import type { RunStatus } from "../protocol/run-record.ts";
import type { ToolQuestion } from "../protocol/tool-question.ts";
import { toUnknownRun } from "../store/refusal.ts";
import type { RunIndex } from "../store/run-index.ts";
import { encodeApproval, type RemoteAnswer, toApprovalTopic } from "./approval-answers.ts";

/** An unanswered question of a run. */
export interface OpenQuestion extends ToolQuestion {
  readonly run_id: string;
}

/** The questions of one run, in the order they were asked. */
export async function findQuestions(
  record: Pick<RecordReader, "readEvents">,
  id: string,
): Promise<readonly OpenQuestion[]> {
  const questions = createOpenToolQuestions();
  for await (const page of readLog(record, id)) for (const { event } of page) questions.read(event);
  return questions.open.map((question) => ({ ...question, run_id: id }));
}

/** The questions of all runs, the oldest first. Reads rows of questions, and no log. */
export async function findAllQuestions(
  index: Pick<RunIndex, "listQuestions">,
): Promise<readonly OpenQuestion[]> {
  const rows = await index.listQuestions({ tenant: undefined, limit: MOST_QUESTIONS });
  return rows.map(({ run_id, body }) => {
    return { ...STORED_QUESTION.read(body), type: "tool_question", run_id };
  });
}

const STORED_QUESTION = storedObject<Omit<ToolQuestion, "type">>("a question", ["question"]);

/** More than people can answer. */
const MOST_QUESTIONS = 10_000;

export interface ApprovalWish {
  readonly answer: RemoteAnswer;
  /** The question's name. A yes needs it; so does a no if several questions are open. */
  readonly call?: string | undefined;
  /** Words for the model, with a no. */
  readonly reason?: string | undefined;
  /** Where the answer comes from, for a person: `another terminal`. */
  readonly from: string;
}

interface ApprovalParts {
  readonly engine: Pick<Engine, "signal" | "follow" | "status" | "isHeld" | "record">;
  readonly clock?: Clock | undefined;
}

export interface Approved {
  readonly question: OpenQuestion;
  /** `left`: no process runs the run now; it takes the answer when it continues. */
  readonly outcome: "taken" | "left";
}

/** Rejects with `conflict` if another answer came first, or if nothing is asked. */
export async function answerQuestion(
  { engine, clock = systemClock }: ApprovalParts,
  id: string,
  { answer, call, reason, from }: ApprovalWish,
): Promise<Approved> {
  const status = await engine.status(id);
  if (!status) throw toUnknownRun(id);
  if (status.status === "ended") throw toEnded(status);
  const open = await findQuestions(engine.record, id);
  await refuseDecided(engine.record, id, call);
  const question = pick(open, { id, call, answer });
  const key = makeId("msg");
  const topic = toApprovalTopic(question.question);
  await engine.signal(id, topic, { key, body: encodeApproval({ answer, reason, key, from }) });
  const decision = await untilDecided({ engine, clock }, status, question);
  if (!decision) return { question, outcome: "left" };
  if (decision.answer === key) return { question, outcome: "taken" };
  throw toLate(question, decision);
}

/**
 * Picks by the question's name alone: the model's server chooses a call's id. A yes must name the question, because
 * the one that a person has read may be answered or over by now, and another question open.
 */
function pick(
  open: readonly OpenQuestion[],
  { id, call, answer }: Pick<ApprovalWish, "call" | "answer"> & { readonly id: string },
): OpenQuestion {
  const fitting = open.filter(({ question }) => call === undefined || question === call);
  const [first] = fitting;
  if (first && fitting.length === 1 && (call !== undefined || answer === "no")) return first;
  if (first) {
    const names = fitting.map((one) => `${one.question} (${toCallText(one)})`).join(", ");
    const count = fitting.length === 1 ? "an answer" : `${fitting.length} answers`;
    const message = `Run ${id} waits for ${count}. Say which question you mean: ${names}.`;
    throw new Failure("conflict", message);
  }
  const what = call === undefined ? "no approval" : `no approval of \`${clip(call, 80)}\``;
  const message = `Run ${id} waits for ${what}: this question was not asked, or it is already answered. \`offshoot runs waiting\` lists open questions.`;
  throw new Failure("conflict", message);
}

/** Reports the decision to an answer that came after it. */
async function refuseDecided(
  record: Pick<RecordReader, "readEvents">,
  id: string,
  call: string | undefined,
): Promise<void> {
  if (call === undefined) return;
  for await (const page of readLog(record, id)) {
    for (const { event } of page)
      if (closes(event, call)) throw toLate({ run_id: id, name: event.name }, event);
  }
}

function toLate(
  { run_id, name }: Pick<OpenQuestion, "run_id" | "name">,
  { verdict, reason }: ToolDecision,
): Failure {
  const outcome = verdict === "allow" ? "allowed" : "denied";
  const message = `Too late: the call of ${name} in ${run_id} was ${outcome} already (${clip(reason, 200)}).`;
  return new Failure("conflict", message);
}

/** How often to check whether a process still runs the run, and how many checks in a row may find none. */
const LOOK_MS = 1000;
const MAX_ALONE = 2;

/** The decision that closes the question; undefined if no process runs the run. */
async function untilDecided(
  { engine, clock }: ApprovalParts & { readonly clock: Clock },
  { id }: RunStatus,
  { question }: OpenQuestion,
): Promise<ToolDecision | undefined> {
  const isAlone = createLoneliness(engine, id);
  if (await isAlone()) return undefined;
  const over = new AbortController();
  const watching = watch(isAlone, clock, over);
  try {
    for await (const batch of engine.follow(id, -1, over.signal)) {
      for (const { event } of batch) if (closes(event, question)) return event;
    }
    throw new Failure("conflict", `Too late: run ${id} has ended.`);
  } catch (thrown) {
    if (over.signal.aborted) return undefined;
    throw thrown;
  } finally {
    over.abort();
    await watching;
  }
}

function closes(event: RunEvent, question: string): event is ToolDecision {
  return event.type === "tool_decision" && event.question === question;
}

/** Ends the wait once several checks found no owner: a slow owner is not dead. */
async function watch(
  isAlone: () => Promise<boolean>,
  clock: Clock,
  over: AbortController,
): Promise<void> {
  try {
    for (let alone = 0; alone < MAX_ALONE; ) {
      await clock.sleep(LOOK_MS, over.signal);
      alone = (await isAlone()) ? alone + 1 : 0;
    }
    over.abort();
  } catch {
    // The question was decided meanwhile, or the store is broken, which the follower reports itself.
  }
}

function createLoneliness(
  engine: Pick<Engine, "status" | "isHeld">,
  id: string,
): () => Promise<boolean> {
  return async () => {
    const run = await engine.status(id);
    return run !== undefined && run.status !== "ended" && !(await engine.isHeld(run));
  };
}
