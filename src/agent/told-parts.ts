/**
 * The prompt before the conversation, in parts: which they are, in which order, and which of them a child
 * gets. The text is one, `instructions`; the parts are its pieces. Pure.
 */

import type { ToldKind, ToldPart } from "../protocol/told-part.ts";

export interface ToldText {
  readonly part: ToldKind;
  /** Where the words come from: a file, a flag, or the package itself. */
  readonly source: string;
  readonly text: string;
  /** How many bytes of the file were left out. */
  readonly cut_bytes?: number | undefined;
  /** Why the part has no words: the model does not get the file, and the record says so. */
  readonly refused?: string | undefined;
}

export interface ToldPrompt {
  readonly instructions: string | null;
  /** Left out if the caller wrote the instructions whole. */
  readonly told?: readonly ToldPart[] | undefined;
}

const BETWEEN = "\n\n";

/** Parts without words are left out, except for those that were refused. */
export function joinParts(parts: readonly ToldText[]): ToldPrompt {
  const some = parts.filter(({ text, refused }) => text !== "" || refused !== undefined);
  const texts = some.flatMap(({ text }) => (text === "" ? [] : [text]));
  let at = 0;
  const told = some.map(({ text, ...rest }): ToldPart => {
    const piece = { ...rest, at, chars: text.length };
    if (text !== "") at += text.length + BETWEEN.length;
    return piece;
  });
  return { instructions: texts.length === 0 ? null : texts.join(BETWEEN), told };
}

export function splitParts({ instructions, told = [] }: ToldPrompt): ToldText[] {
  return told.map(({ at, chars, ...rest }) => {
    return { ...rest, text: (instructions ?? "").slice(at, at + chars) };
  });
}

/** The tool that loads skills: a model that has it gets the list of skills. */
export const SKILL_TOOL = "skill";

interface ChildPrompt {
  readonly tools: readonly string[];
  readonly mayDelegate: boolean;
  /** The instructions from the parent's model or the agent file. */
  readonly instructions: string | null;
  /** Where those words come from. */
  readonly source: string;
}

/**
 * Every child gets the place and the project notes, however it was started; how to work if it has tools; how
 * to delegate and which skills there are if it can use them. What the user says to the main agent is not for it.
 */
export function toChildPrompt(parent: ToldPrompt, child: ChildPrompt): ToldPrompt {
  const { tools, mayDelegate, instructions, source } = child;
  // If a parent's instructions were written whole, or it has none, its child gets the instructions of the call.
  if (!parent.told) return { instructions, told: undefined };
  const fits: Readonly<Record<ToldKind, boolean>> = {
    base: tools.length > 0,
    delegation: mayDelegate,
    place: true,
    notes: true,
    skills: tools.includes(SKILL_TOOL),
    system: false,
  };
  const above = splitParts(parent).filter(({ part }) => fits[part]);
  const own = { part: "system", source, text: instructions ?? "" } as const;
  return joinParts([...above, own]);
}
