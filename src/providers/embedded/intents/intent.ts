/**
 * An intent: a kind of request that the interpreter understands, and the plan that serves it.
 *
 * A plan is a generator. It yields the tool calls that it needs next, gets their outputs in the same order,
 * and returns the answer. Nothing is kept between turns: each turn runs the plan from its start and feeds
 * it the outputs that the conversation already has. So a plan must make the same calls whenever it gets the
 * same outputs.
 */

import type { JsonObject } from "../../../base/json.ts";
import type { EmbeddedConversation } from "../conversation.ts";
import { compileTemplate, type PhrasePattern, type Slots } from "../template.ts";
import type { Wording } from "../wording.ts";

export interface ToolRequest {
  readonly name: string;
  readonly arguments: JsonObject;
}

export interface IntentAnswer {
  readonly text: string;
  /** The facts of the answer under names, for an answer that must be JSON. */
  readonly data?: JsonObject;
  /** Texts that were read: an answer that must be JSON may take values from them. */
  readonly material?: readonly string[];
  /**
   * True if it failed, for example a command with a non-zero exit code. Later steps of the request are then
   * skipped.
   */
  readonly failed?: true;
  /** True if nothing was done, because it was denied or is impossible. The answer is then a refusal. */
  readonly declined?: true;
}

export type IntentPlan = Generator<readonly ToolRequest[], IntentAnswer, readonly string[]>;

export interface Intent {
  readonly name: string;
  /** The purpose of the intent, in words that follow "I can": "list the files of a kind". */
  readonly summary: string;
  readonly tools: readonly string[];
  /** True if it changes, starts or sends something; false if it only reads. */
  readonly acts: boolean;
  /** Example sentences, which tests run. The first is shown in the help. */
  readonly phrasings: readonly string[];
  match(wording: Wording, conversation: EmbeddedConversation): IntentMatch | undefined;
}

export interface IntentMatch {
  readonly intent: Intent;
  readonly slots: Slots<string>;
  plan(): IntentPlan | IntentAnswer;
}

interface Definition<Name extends string> {
  readonly name: string;
  readonly summary: string;
  readonly tools: readonly string[];
  /** If missing, the intent only reads. */
  readonly acts?: true;
  /**
   * If none of these words is in a request, no template can match, and none is compiled. Compiling is the
   * slowest part.
   */
  readonly hints?: RegExp;
  readonly phrasings: readonly string[];
  readonly templates: readonly string[];
  /** Which form of the wording the templates see; `plain` by default. */
  readonly reads?: keyof Wording;
  /** Checks the slots, if a template alone would match too much. */
  accept?(slots: Slots<Name>, conversation: EmbeddedConversation): boolean;
  plan(slots: Slots<Name>, conversation: EmbeddedConversation): IntentPlan | IntentAnswer;
}

export function defineIntent<Name extends string>(definition: Definition<Name>): Intent {
  const { name, summary, tools, phrasings, templates, reads = "plain", accept } = definition;
  const { acts = false, hints = /./ } = definition;
  // Compiled at the first request, so that commands that never ask this model do not pay for it.
  let compiled: PhrasePattern[] | undefined;

  const intent: Intent = { name, summary, tools, acts, phrasings, match };
  return intent;

  function match(wording: Wording, conversation: EmbeddedConversation): IntentMatch | undefined {
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
