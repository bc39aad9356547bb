/**
 * Background subagents, as the loop of their parent sees them. Their reports and questions come before the next turn;
 * a run that is done waits for them; a run that ends stops them.
 *
 * The journal's calls say whether there are any, so a run without them writes nothing for this. The news that a turn
 * gets of them is a step of its own.
 */

import type { Clock } from "../base/clock.ts";
import { storedList } from "../base/stored.ts";
import type { RunContext } from "../engine/engine.ts";
import type { ChildNews, ChildWord } from "../protocol/child-news.ts";
import type { Item } from "../protocol/items.ts";
import type { Notice } from "../protocol/run-events.ts";
import { turnsKept } from "./report.ts";
import type { AgentTask } from "./task.ts";

/** The effects of a call on background children, as stored in the journal. */
export interface CallNote {
  /** The ids of the children that the call left running. */
  readonly started: readonly string[];
  /** The marks of the news that the call gave its model. */
  readonly told: readonly string[];
}

export interface Background {
  /** True while some children still work, or have ended and the model was not told. Read from the journal alone. */
  readonly isOpen: boolean;
  /** The note of a call that was made here; undefined for most calls. */
  noteOf(callKey: string): CallNote | undefined;
  /** Called once with each note; `isReplayed` for notes that the journal had. */
  learn(note: CallNote, how: { readonly isReplayed: boolean }): void;
  /** Finds the children that an earlier owner of the run has left. Called before any other work. */
  restore(): Promise<void>;
  /** Reads the news that the model has not been told, without waiting. */
  look(turn: number): Promise<readonly ChildWord[]>;
  /** Like `look`, but first waits until all children have ended or one asks. `stepKey` is the step that waits. */
  settle(turn: number, stepKey: string): Promise<readonly ChildWord[]>;
  /** Marks this news as told. */
  hear(news: readonly ChildWord[]): void;
  /** Stops all children. Never rejects. */
  end(): Promise<LeftChildren>;
}

export interface LeftChildren {
  /** The children that the end of the run has stopped. */
  readonly stopped: readonly string[];
  /** The children that had ended before and whose reports were not read, each with its ending: `a (finished)`. */
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

/** Before each turn: gives the model the news of background children as the user's next message. */
export async function hearChildren(parts: Parts, progress: Progress): Promise<void> {
  const { backgroundChildren: background } = parts;
  if (!background?.isOpen) return;
  await tell(parts, progress, { key: `children:${progress.turns}`, isFinal: false });
}

/**
 * After the model's answer: waits for children that still work, and adds their news. Returns true if there is news
 * that the model has not read, so it must be asked once more.
 */
export async function awaitChildren(parts: Parts, progress: Progress): Promise<boolean> {
  const { backgroundChildren: background, task } = parts;
  if (!background?.isOpen) return false;
  // No turn is left to read news in: the run ends at its limit, and says what was not read.
  if (progress.turns >= task.max_turns - turnsKept(task)) return true;
  await tell(parts, progress, { key: `children:${progress.turns}.end`, isFinal: true });
  return true;
}

/** Before the run's end, however it ends: stops everything that it started. Never rejects. */
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

const STORED_NEWS = storedList<ChildWord>("news of subagents", ["child_id", "kind"]);

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
  const written = await context.stage(key, async (step) => {
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
    return STORED_NEWS.write(found);
  });
  const news = STORED_NEWS.read(written);
  background.hear(news);
  if (news.length > 0) progress.items.push(toNewsMessage({ news, final: isFinal }));
}

/** The message that tells the model what background children have to say. */
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
