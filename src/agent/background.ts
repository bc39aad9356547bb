/**
 * Subagents that no call waits for, as the loop of their parent sees them: what they have to say comes
 * before the next turn, a run that is done waits for them, and one that ends ends them.
 *
 * Whether there are any is known from what the journal has of the calls, so a run without them writes
 * nothing for it. What a turn is told of them is a step of its own.
 */

import type { Clock } from "../base/clock.ts";
import type { Json } from "../base/json.ts";
import type { RunContext } from "../engine/engine.ts";
import type { ChildNews, ChildWord } from "../protocol/child-news.ts";
import type { Item } from "../protocol/items.ts";
import type { Notice } from "../protocol/run-events.ts";
import { turnsKept } from "./report.ts";
import type { AgentTask } from "./task.ts";

/** What a call has done with background children, as it stands in the journal. */
export interface CallNote {
  /** The ids of those that it left running. */
  readonly started: readonly string[];
  /** The marks of what it told its model. */
  readonly told: readonly string[];
}

export interface Background {
  /** Whether some work on, or have ended and nobody was told. By the journal alone. */
  readonly isOpen: boolean;
  /** Of a call that was made here; undefined for most. */
  noteOf(callKey: string): CallNote | undefined;
  /** Called once with each note; `isReplayed` for those that the journal had. */
  learn(note: CallNote, how: { readonly isReplayed: boolean }): void;
  /** Finds the children again that a past owner of the run has left. Called before anything is done. */
  restore(): Promise<void>;
  /** What was not told yet. */
  look(turn: number): Promise<readonly ChildWord[]>;
  /** The same, once all have ended or one asks. `stepKey` is the step that waits. */
  settle(turn: number, stepKey: string): Promise<readonly ChildWord[]>;
  /** These were told. */
  hear(news: readonly ChildWord[]): void;
  /** Ends them all. Never rejects. */
  end(): Promise<LeftChildren>;
}

export interface LeftChildren {
  /** Those that the end of the run has stopped. */
  readonly stopped: readonly string[];
  /** Those that had ended by then and whose reports nobody has read, each with how: `a (finished)`. */
  readonly unread: readonly string[];
}

interface Parts {
  readonly context: RunContext;
  readonly clock: Clock;
  readonly task: AgentTask;
  readonly backgroundChildren?: Background | undefined;
}

interface Progress {
  readonly items: Item[];
  readonly turns: number;
  readonly notices: Notice[];
}

/** Before each turn: what background children have to say is the user's next message. */
export async function hearChildren(parts: Parts, progress: Progress): Promise<void> {
  const { backgroundChildren: background } = parts;
  if (!background?.isOpen) return;
  await tell(parts, progress, { key: `children:${progress.turns}`, isFinal: false });
}

/**
 * When the model has given its answer: waits for those that still work, and tells what they say. True
 * where there is something that the model has not read, so that it is to be asked once more.
 */
export async function awaitChildren(parts: Parts, progress: Progress): Promise<boolean> {
  const { backgroundChildren: background, task } = parts;
  if (!background?.isOpen) return false;
  // No turn is left to read anything in: the run ends at that limit, and says what was not read.
  if (progress.turns >= task.max_turns - turnsKept(task)) return true;
  await tell(parts, progress, { key: `children:${progress.turns}.end`, isFinal: true });
  return true;
}

/** Before the run's end, whichever it is: nothing that it started goes on. Never rejects. */
export async function endChildren(
  { backgroundChildren }: Parts,
  progress: Progress,
): Promise<void> {
  const left = await backgroundChildren?.end();
  if (!left) return;
  const { stopped, unread } = left;
  const said = [
    ...(stopped.length > 0 ? [`Stopped with the run: ${stopped.join(", ")}.`] : []),
    ...(unread.length > 0
      ? [`Ended before, and the run did not read their reports: ${unread.join(", ")}.`]
      : []),
  ];
  if (said.length === 0) return;
  progress.notices.push({ type: "notice", code: "background", message: said.join(" ") });
}

interface Telling {
  readonly key: string;
  readonly isFinal: boolean;
}

async function tell(
  { context, clock, backgroundChildren: background }: Parts,
  progress: Progress,
  { key, isFinal }: Telling,
): Promise<void> {
  if (!background) return;
  const { turns: turn } = progress;
  const news = (await context.stage(key, async (step) => {
    await background.restore();
    const found = isFinal
      ? await background.settle(turn, step.idempotencyKey)
      : await background.look(turn);
    const event: ChildNews = {
      type: "child_news",
      turn,
      ...(isFinal ? { final: true } : {}),
      news: found,
      at_ms: clock.now(),
    };
    if (found.length > 0) step.end([event]);
    return found as unknown as Json;
  })) as unknown as readonly ChildWord[];
  background.hear(news);
  if (news.length > 0) progress.items.push(toNewsMessage({ news, final: isFinal }));
}

/** What the model is told. */
export function toNewsMessage({ news, final }: Pick<ChildNews, "news" | "final">): Item {
  const words = news.map(({ kind, label, child_id, text }) =>
    kind === "report"
      ? `Subagent ${label} (${child_id}) has ended: ${text}`
      : `Subagent ${label} (${child_id}) asks: ${text}\nAnswer with \`subagents\`, action \`message\`.`,
  );
  const content = [...words, ...(final ? [ONCE_MORE] : [])].join("\n\n");
  return { type: "message", role: "user", content };
}

const ONCE_MORE =
  "This came after your answer. Give your whole answer again, with it taken into account.";
