/**
 * An intent: a kind of request the interpreter understands, and the plan that serves it.
 *
 * A plan is a generator. It yields the tool calls it needs next, is given their outputs in the same
 * order, and returns the answer. Nothing is kept between turns: each turn runs the plan from its start
 * again and feeds it the outputs that the conversation already holds, so a plan must ask for the same
 * calls whenever it is given the same outputs.
 */

import type { JsonObject } from "../../../base/json.ts";
import type { Conversation } from "../conversation.ts";
import { compileTemplate, type Slots, type Template } from "../template.ts";
import type { Wording } from "../wording.ts";

export interface ToolRequest {
  readonly name: string;
  readonly arguments: JsonObject;
}

export interface Answer {
  readonly text: string;
  /** The same facts under names, for an answer that must be JSON. */
  readonly data?: JsonObject;
  /** What it was asked to read: an answer that must be JSON may take values out of it. */
  readonly material?: readonly string[];
  /** Whether it went wrong, as a command that ended badly has: what should come after it is not done. */
  readonly failed?: true;
  /** Whether nothing of it was done, because it was denied or cannot be: the answer is a refusal then. */
  readonly declined?: true;
}

export type Plan = Generator<readonly ToolRequest[], Answer, readonly string[]>;

export interface Intent {
  readonly name: string;
  /** What it does, to follow "I can": "list the files of a kind". */
  readonly summary: string;
  readonly tools: readonly string[];
  /** Whether it does more than look: changes, starts or sends something. */
  readonly acts: boolean;
  /** Sentences it is tested with; the first is shown in the help. */
  readonly phrasings: readonly string[];
  match(wording: Wording, conversation: Conversation): Match | undefined;
}

export interface Match {
  readonly intent: Intent;
  readonly slots: Slots<string>;
  plan(): Plan | Answer;
}

interface Definition<Name extends string> {
  readonly name: string;
  readonly summary: string;
  readonly tools: readonly string[];
  /** Left out, it only looks. */
  readonly acts?: true;
  /** Words without one of which no template fits; without them none is compiled, which takes longest. */
  readonly hints?: RegExp;
  readonly phrasings: readonly string[];
  readonly templates: readonly string[];
  /** Which state of the wording the templates see; `plain` unless told. */
  readonly reads?: keyof Wording;
  /** A second look at the slots, where a template alone would take too much. */
  accept?(slots: Slots<Name>, conversation: Conversation): boolean;
  plan(slots: Slots<Name>, conversation: Conversation): Plan | Answer;
}

export function defineIntent<Name extends string>(definition: Definition<Name>): Intent {
  const { name, summary, tools, phrasings, templates, reads = "plain", accept } = definition;
  const { acts = false, hints = /./ } = definition;
  // Compiled at the first request: a command that never asks this model should not pay for it.
  let compiled: Template[] | undefined;

  const intent: Intent = { name, summary, tools, acts, phrasings, match };
  return intent;

  function match(wording: Wording, conversation: Conversation): Match | undefined {
    if (!hints.test(wording[reads])) return undefined;
    compiled ??= templates.map(compileTemplate);
    for (const read of compiled) {
      const slots = read(wording[reads]) as Slots<Name> | undefined;
      if (!slots || accept?.(slots, conversation) === false) continue;
      return { intent, slots, plan: () => definition.plan(slots, conversation) };
    }
    return undefined;
  }
}
