/**
 * The prompt of a run that continues a session: the prompt of the session's first run, word for word, because
 * vendors cache the beginning of a request that does not change. What is different by now comes as a message right
 * before the prompt. Pure.
 */

import { splitParts, type ToldPrompt, type ToldText } from "../../agent/told-parts.ts";
import type { Message } from "../../protocol/items.ts";
import type { ToldKind } from "../../protocol/told-part.ts";

export interface ContinuedPrompt extends ToldPrompt {
  /** The changes since the first run; undefined if nothing has changed. */
  readonly note: Message | undefined;
}

/** Parts that may change between two prompts of one session while the beginning stays the same. */
const CHANGING: ReadonlySet<ToldKind> = new Set(["place", "notes", "skills"]);

/** `now` left out: unchanged. */
export function toContinuedPrompt(
  before: ToldPrompt,
  now: ToldPrompt | undefined,
): ContinuedPrompt {
  if (!now) return { ...before, note: undefined };
  if (!before.told || !now.told) return { ...now, note: undefined };
  const old = splitParts(before);
  const fresh = splitParts(now);
  // New words of the user, or another base prompt, are meant to apply.
  if (fixedOf(old) !== fixedOf(fresh)) return { ...now, note: undefined };
  const lines = [...tellPlace(old, fresh), ...tellFiles(old, fresh)];
  return { ...before, note: lines.length === 0 ? undefined : toNote(lines) };
}

function fixedOf(parts: readonly ToldText[]): string {
  const fixed = parts.filter(({ part }) => !CHANGING.has(part));
  return JSON.stringify(fixed.map(({ part, text }) => [part, text]));
}

function tellPlace(old: readonly ToldText[], fresh: readonly ToldText[]): string[] {
  const linesOf = (parts: readonly ToldText[]): string[] =>
    parts.flatMap(({ part, text }) => (part === "place" ? text.split("\n") : []));
  const known = new Set(linesOf(old));
  return linesOf(fresh).filter((line) => !known.has(line));
}

/** A file that was removed is not reported: the model has its text already. */
function tellFiles(old: readonly ToldText[], fresh: readonly ToldText[]): string[] {
  const textsOf = (parts: readonly ToldText[]): string[] =>
    parts.flatMap(({ part, text }) => (part === "notes" || part === "skills" ? [text] : []));
  const known = new Set(textsOf(old));
  return textsOf(fresh).filter((text) => !known.has(text));
}

function toNote(lines: readonly string[]): Message {
  const content = ["<changed_since>", ...lines, "</changed_since>"].join("\n");
  return { type: "message", role: "user", content };
}
