/** A run as a program holds it: its log, its text as it comes, its ending and its conversation. */

import { steerRun } from "../agent/inbox.ts";
import { Failure } from "../base/failure.ts";
import type { Engine, RunOutcome } from "../engine/engine.ts";
import { withoutAbandoned } from "../protocol/abandoned-work.ts";
import type { Item } from "../protocol/items.ts";
import type { LoggedEvent, RunEnd, RunEvent } from "../protocol/run-events.ts";
import type { ApprovalWish, Approved, OpenQuestion } from "./approvals.ts";
import type { JoinedSession } from "./sessions/begin-session.ts";
import type { ForkedFrom } from "./sessions/session.ts";

export interface Run {
  readonly id: string;
  /** The session that it belongs to, if the request named one. */
  readonly session?: string | undefined;
  /** If it continues in a fork of the named session: that session, and why. */
  readonly forked?: ForkedFrom | undefined;
  /** The log from its beginning, live, in batches, until the run has ended. */
  follow(signal?: AbortSignal): AsyncGenerator<readonly LoggedEvent[]>;
  /** The model's text as it comes, also what it says before tool calls, until the run has ended. */
  text(signal?: AbortSignal): AsyncGenerator<string>;
  /** The ending, whichever it is; never rejects for a run that failed. */
  result(): Promise<RunEnd>;
  /** The whole conversation once the run has ended: append more to it for a second turn. */
  items(): Promise<readonly Item[]>;
  /** Leaves a message that the run reads before its next turn. Rejects with `conflict` once it has ended. */
  steer(text: string): Promise<void>;
  /** The tool calls that wait for a person's answer, in the order they were asked. */
  questions(): Promise<readonly OpenQuestion[]>;
  /**
   * Allows the call that waits: the same as a yes where it was asked. Returns `taken` once the run has decided by it,
   * and `left` if no process runs the run now: it takes the answer when it continues. Rejects with `conflict` if
   * another answer came first, and if nothing is asked.
   */
  approve(wish?: ApproveWish): Promise<Approved["outcome"]>;
  /** Refuses the call that waits, with an optional reason for the model; otherwise like `approve`. */
  deny(wish?: DenyWish): Promise<Approved["outcome"]>;
  /** Never rejects: a run that has ended stays as it is. */
  cancel(): Promise<void>;
}

interface AnswerWish {
  /** The question's name (`question` of `questions()`). A yes needs it; so does a no if several wait. */
  readonly call?: string | undefined;
}

export interface DenyWish extends AnswerWish {
  /** The reason; the model reads it as the call's result. */
  readonly reason?: string | undefined;
}

export interface ApproveWish extends AnswerWish {
  /** Similar calls need no further questions: of this run (`true`), or of its whole tree (`"tree"`). */
  readonly always?: boolean | "tree" | undefined;
}

export function toRun(
  engine: Engine,
  id: string,
  joined?: Pick<JoinedSession, "place" | "forked">,
): Run {
  const follow = (signal?: AbortSignal): AsyncGenerator<readonly LoggedEvent[]> =>
    engine.follow(id, -1, signal);
  return {
    id,
    session: joined?.place.id,
    forked: joined?.forked,
    follow,
    async *text(signal) {
      for await (const batch of follow(signal)) {
        const text = batch.map(({ event }) => (event.type === "text_delta" ? event.delta : ""));
        const piece = text.join("");
        if (piece !== "") yield piece;
      }
    },
    result: async () => endOf(await engine.result(id)),
    async items() {
      const log: RunEvent[] = [];
      for await (const batch of follow()) log.push(...batch.map(({ event }) => event));
      return withoutAbandoned(log).flatMap(itemsOf);
    },
    steer: (text) => steerRun(engine, id, text),
    async questions() {
      const { findQuestions } = await import("./approvals.ts");
      return await findQuestions(engine.record, id);
    },
    approve: (wish) => answer(engine, id, toWish(wish)),
    deny: ({ call, reason } = {}) => answer(engine, id, { call, reason, answer: "no" }),
    // A run that cannot be cancelled has ended or belongs to another process; `result` tells which.
    cancel: () => engine.cancel(id, { tree: true }).catch(() => {}),
  };
}

function toWish({ call, always = false }: ApproveWish = {}): Omit<ApprovalWish, "from"> {
  if (always === "tree") return { call, answer: "tree" };
  return { call, answer: always ? "always" : "yes" };
}

async function answer(
  engine: Engine,
  id: string,
  wish: Omit<ApprovalWish, "from">,
): Promise<Approved["outcome"]> {
  const { answerQuestion } = await import("./approvals.ts");
  return (await answerQuestion({ engine }, id, { ...wish, from: "another program" })).outcome;
}

function itemsOf(event: RunEvent): readonly Item[] {
  if (event.type === "run_start") return event.input;
  if (event.type === "run_input") return event.items;
  return event.type === "item_end" || event.type === "tool_end" ? [event.item] : [];
}

/** Not the outcome's result: an ending that the engine wrote itself has none. */
function endOf({ events }: RunOutcome): RunEnd {
  const end = events.at(-1);
  if (end?.type === "run_end") return end;
  throw new Failure("internal", "The log of the run has no ending.");
}
