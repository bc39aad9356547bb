/**
 * What a model is told before the conversation, in parts: which they are, in which order, and which of them a
 * child gets. The text is one, `instructions`; the parts are its pieces. Pure.
 */

import type { ToldKind, ToldPart } from "../protocol/told-part.ts";

export interface PromptPart {
  readonly part: ToldKind;
  /** Whose words they are: a file, a flag, or the package's own. */
  readonly source: string;
  readonly text: string;
  /** How many bytes of the file were left out. */
  readonly cut_bytes?: number | undefined;
  /** Why there are no words: the file is not told of, and the record says so. */
  readonly refused?: string | undefined;
}

export interface ToldPrompt {
  readonly instructions: string | null;
  /** Left out where somebody wrote the instructions whole. */
  readonly told?: readonly ToldPart[] | undefined;
}

const BETWEEN = "\n\n";

/** Parts without words are left out, except for those that were refused. */
export function joinParts(parts: readonly PromptPart[]): ToldPrompt {
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

export function splitParts({ instructions, told = [] }: ToldPrompt): PromptPart[] {
  return told.map(({ at, chars, ...rest }) => {
    return { ...rest, text: (instructions ?? "").slice(at, at + chars) };
  });
}

/** The tool that loads skills: who has it is told which there are. */
export const SKILL_TOOL = "skill";

interface ChildPrompt {
  readonly tools: readonly string[];
  readonly mayDelegate: boolean;
  /** What its parent's model or its agent's file says. */
  readonly instructions: string | null;
  /** Whose words those are. */
  readonly source: string;
}

/**
 * A child is told where it is and what the project notes, whoever asked for it; how to work if it has tools; how to
 * delegate and which skills there are if it can use that. What the user says to the main agent is not for it.
 */
export function toChildPrompt(parent: ToldPrompt, child: ChildPrompt): ToldPrompt {
  const { tools, mayDelegate, instructions, source } = child;
  // A parent that was told something whole, or nothing, tells its child what the call says.
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
