/**
 * Asks a person for a run or a subagent. The answer comes from the person who is asked here, or from a message that
 * was left for the run. The first answer counts.
 */

import type { AgentTask } from "../agent/task.ts";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import { clip } from "../base/text.ts";
import type { RunContext } from "../engine/engine.ts";
import type { Item } from "../protocol/items.ts";
import { type Always, createAlways } from "../tools/gate/always.ts";
import type { Answer, AnswerFromElsewhere, Asker, Denial, Question } from "../tools/gate/ask.ts";
import { parseApproval, toApprovalTopic } from "./approval-answers.ts";
import type { GateSurroundings } from "./open-gate.ts";
import type { SafetySettings } from "./safety-settings.ts";

type Place = Pick<RunContext, "id" | "path" | "uncounted" | "waitFor">;

export interface Askers {
  of(task: AgentTask, run: Place): Pick<GateSurroundings, "ask" | "asker" | "treeAlways">;
  /** The allowances for the whole tree of a run. */
  alwaysOf(run: Pick<RunContext, "id">): Always;
  /** Forgets what was allowed for a tree, at the end of its root. */
  end(run: Pick<RunContext, "id">): void;
}

interface Asking extends Pick<SafetySettings, "ask" | "approvalWaitMs"> {
  /** For all runs here, if they belong to one tree of another process. */
  readonly treeAlways?: Always | undefined;
}

export function createAskers(asking: Asking, clock: Clock): Askers {
  const trees = new Map<string, Always>();
  const alwaysOf = ({ id }: Pick<RunContext, "id">): Always => {
    const root = rootOf(id);
    const always = asking.treeAlways ?? trees.get(root) ?? createAlways();
    trees.set(root, always);
    return always;
  };
  return {
    alwaysOf,
    of(task, run) {
      const approvalWaitMs = task.approval_wait_ms ?? asking.approvalWaitMs;
      if (!asking.ask && approvalWaitMs === undefined) return { ask: undefined };
      return {
        // A person's thinking time is not the run's time.
        ask: (question, signal) =>
          run.uncounted(() =>
            askAnywhere(question, { ...asking, approvalWaitMs, run, clock, signal }),
          ),
        asker: task.depth > 0 ? toAsker(task, run) : undefined,
        treeAlways: alwaysOf(run),
      };
    },
    end({ id }) {
      if (rootOf(id) === id) trees.delete(id);
    },
  };
}

type Said = Answer | Denial | AnswerFromElsewhere;

interface AskingHere extends Asking {
  readonly run: Pick<RunContext, "waitFor">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Looks for an answer that was left before a person is asked: a takeover asks again, and must not ask if the answer
 * is there. The other ways are ended with the reason, so that a question on a terminal can say why it is withdrawn.
 */
async function askAnywhere(
  question: Question,
  { ask, approvalWaitMs, run, clock, signal }: AskingHere,
): Promise<Said> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  let onWait = (): void => {};
  const here = new Promise<Answer | Denial>((resolve, reject) => {
    onWait = () => void ask?.(question, until).then(resolve, reject);
  });
  const elsewhere = waitForAnswer(run, question, { signal: until, onWait: () => onWait() });
  const ways: Promise<Said>[] = [elsewhere, here];
  if (approvalWaitMs !== undefined) ways.push(giveUp(approvalWaitMs, clock, until));
  // All but one of them are ended, and reject when nothing listens any more.
  for (const way of ways) way.catch(() => {});
  try {
    const given = await Promise.race(ways);
    over.abort(toWithdrawal(given));
    return given;
  } catch (thrown) {
    over.abort(thrown);
    throw thrown;
  }
}

async function waitForAnswer(
  run: Pick<RunContext, "waitFor">,
  { id }: Question,
  { signal, onWait }: { readonly signal: AbortSignal; readonly onWait: () => void },
): Promise<AnswerFromElsewhere> {
  let isWaiting = false;
  const beginOnce = (): void => {
    if (!isWaiting) onWait();
    isWaiting = true;
  };
  for (;;) {
    const options = { signal, onWait: beginOnce };
    const body = await run.waitFor(toApprovalTopic(id), Number.POSITIVE_INFINITY, options);
    const answer = parseApproval(body);
    // A message that is not an answer is ignored.
    if (answer) return await preferNo(run, id, answer);
  }
}

/** If several answers were left while no process ran the run, a no has precedence, whichever came first. */
async function preferNo(
  run: Pick<RunContext, "waitFor">,
  id: string,
  first: AnswerFromElsewhere,
): Promise<AnswerFromElsewhere> {
  let given = first;
  for (;;) {
    const body = await run.waitFor(toApprovalTopic(id), 0);
    if (body === null) return given;
    const next = parseApproval(body);
    if (next?.answer === "no") given = next;
  }
}

async function giveUp(waitMs: number, clock: Clock, signal: AbortSignal): Promise<never> {
  await clock.sleep(waitMs, signal);
  const hours = waitMs / 3_600_000;
  const limit = Number.isInteger(hours) ? `${hours} h` : `${waitMs / 1000} s`;
  throw new Failure("timeout", `no answer came within ${limit}`);
}

function toWithdrawal(given: Said): Failure {
  const { answer } = typeof given === "string" ? { answer: given } : given;
  const isElsewhere = typeof given === "object" && "from" in given;
  const why = isElsewhere ? `answered in ${given.from}: ${answer}` : answer;
  return new Failure("cancelled", why);
}

/** The id of a child is its parent's and its place. */
function rootOf(id: string): string {
  return id.split("/", 1)[0] ?? id;
}

/** How many characters of a task a question shows. */
const TASK_CHARS = 200;

function toAsker({ label, agent, depth, items }: AgentTask, { path }: Pick<Place, "path">): Asker {
  const task = clip(firstWords(items).replace(/\s+/g, " "), TASK_CHARS);
  return { label: label ?? "", agent: agent ?? null, path, depth, task };
}

function firstWords(items: readonly Item[]): string {
  const message = items.find((item) => item.type === "message" && item.role === "user");
  if (message?.type !== "message") return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => (part.type === "input_text" ? part.text : "")).join(" ");
}
