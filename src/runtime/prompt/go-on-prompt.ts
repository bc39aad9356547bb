/**
 * What a run that goes on with a session is told: what the session was told from the beginning, word for word, because
 * vendors keep the beginning of a request that does not change. What is different by now comes as a message right
 * before the prompt. Pure.
 */

import { type PromptPart, splitParts, type ToldPrompt } from "../../agent/told-parts.ts";
import type { Message } from "../../protocol/items.ts";
import type { ToldKind } from "../../protocol/told-part.ts";

export interface GoneOnPrompt extends ToldPrompt {
  /** What has changed since; undefined where nothing has. */
  readonly note: Message | undefined;
}

/** What may change between two prompts of one session without another beginning. */
const CHANGING: ReadonlySet<ToldKind> = new Set(["place", "notes", "skills"]);

/** `now` left out: as before. */
export function goOnPrompt(before: ToldPrompt, now: ToldPrompt | undefined): GoneOnPrompt {
  if (!now) return { ...before, note: undefined };
  if (!before.told || !now.told) return { ...now, note: undefined };
  const [old, fresh] = [splitParts(before), splitParts(now)];
  // Other words of the user's or another base prompt are meant to count.
  if (fixedOf(old) !== fixedOf(fresh)) return { ...now, note: undefined };
  const lines = [...tellPlace(old, fresh), ...tellFiles(old, fresh)];
  return { ...before, note: lines.length === 0 ? undefined : toNote(lines) };
}

function fixedOf(parts: readonly PromptPart[]): string {
  const fixed = parts.filter(({ part }) => !CHANGING.has(part));
  return JSON.stringify(fixed.map(({ part, text }) => [part, text]));
}

function tellPlace(old: readonly PromptPart[], fresh: readonly PromptPart[]): string[] {
  const linesOf = (parts: readonly PromptPart[]): string[] =>
    parts.flatMap(({ part, text }) => (part === "place" ? text.split("\n") : []));
  const known = new Set(linesOf(old));
  return linesOf(fresh).filter((line) => !known.has(line));
}

/** A file that was removed is not told of: what was said stays said. */
function tellFiles(old: readonly PromptPart[], fresh: readonly PromptPart[]): string[] {
  const textsOf = (parts: readonly PromptPart[]): string[] =>
    parts.flatMap(({ part, text }) => (part === "notes" || part === "skills" ? [text] : []));
  const known = new Set(textsOf(old));
  return textsOf(fresh).filter((text) => !known.has(text));
}

function toNote(lines: readonly string[]): Message {
  const content = ["<changed_since>", ...lines, "</changed_since>"].join("\n");
  return { type: "message", role: "user", content };
}
