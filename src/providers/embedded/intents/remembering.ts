/**
 * Intents for facts that the user stated earlier in the conversation, and for questions about them. They
 * need no tool.
 */

import type { EmbeddedConversation } from "../conversation.ts";
import { compileTemplate, type PhrasePattern, type Slots } from "../template.ts";
import { splitSentences, toWording } from "../wording.ts";
import { defineIntent, type Intent } from "./intent.ts";

const TELL = "(remember|note|note down|keep in mind|memorise|memorize|don't forget)";
/** Words that clearly ask to keep the fact that follows. */
const EXPLICIT = [
  `${TELL} [that] [{owner}] {thing} (is|are|=) {text}`,
  `${TELL} [{owner}] {thing} : {text}`,
];
const NAMES = ["[(you can|you may)] call me {text}", "i am called {text}", "i'm called {text}"];
const PLAIN = ["{owner=my} {thing} (is|are) [called] {text}", "{owner=my} {thing}'s {text}"];

const remember = defineIntent<"owner" | "thing" | "text">({
  name: "remember",
  summary: "remember a fact you tell me",
  tools: [],
  phrasings: [
    "my name is Ada",
    "remember that the port is 8080",
    "Please remember that my favourite colour is green.",
    "note that the deadline is Friday",
    "call me Grace",
    "keep in mind that our database is Postgres",
  ],
  templates: [...EXPLICIT, ...NAMES, ...PLAIN],
  accept: (slots, { asked }) => isFact(slots, asked.join(" ")),
  plan({ owner = "my", thing = "name", text = "" }) {
    const said = `${toOwner(owner)} ${thing}`;
    const told = `Noted for this conversation: ${said} is ${text}. I keep nothing after it ends.`;
    return { text: told, data: { [toKey(thing)]: text } };
  },
});

const recall = defineIntent<"owner" | "thing" | "self">({
  name: "recall",
  summary: "tell you a fact you told me",
  tools: [],
  phrasings: [
    "what is my name?",
    "what's my favourite colour",
    "do you remember my name?",
    "who am I?",
    "tell me my name",
    "what did I tell you?",
  ],
  templates: [
    "(what is|what's|what are|what was|which is) {owner} {thing} [again]",
    "[(do you|can you)] (remember|recall|know) [what] {owner} {thing} [is]",
    "(tell me|say|give me|repeat) [what] {owner=my} {thing} [is]",
    "who am {self=me}",
    "what (did i tell you|have i told you|do you (know|remember)) [about me] [so far]",
    "what facts do you (know|remember)",
  ],
  // "What is the capital of France" is not about the conversation, unless the user has stated it.
  accept: ({ owner, thing = "" }, conversation) =>
    owner === undefined || /my/i.test(owner) || readFacts(conversation).has(toKey(thing)),
  plan({ owner = "my", thing, self }, conversation) {
    const facts = readFacts(conversation);
    if (thing === undefined && self === undefined) {
      return { text: listFacts(facts), data: Object.fromEntries(facts) };
    }
    const key = toKey(thing ?? "name");
    const said = `${toOwner(owner)} ${key}`;
    const value = facts.get(key);
    if (value === undefined) return { text: `You have not told me ${said} in this conversation.` };
    const text = `${said.charAt(0).toUpperCase()}${said.slice(1)} is ${value}.`;
    return { text, data: { [key]: value, answer: value, value } };
  },
});

/** Every fact that the user asked to keep. Later facts replace earlier ones. */
function readFacts({ earlier, asked }: EmbeddedConversation): Map<string, string> {
  readers ??= [...EXPLICIT, ...NAMES, ...PLAIN].map(compileTemplate);
  const facts = new Map<string, string>();
  for (const sentence of [...earlier, ...asked].flatMap(splitSentences)) {
    const { plain } = toWording(sentence);
    const slots = firstMatch(plain);
    if (slots && isFact(slots, plain))
      facts.set(toKey(slots["thing"] ?? "name"), slots["text"] ?? "");
  }
  return facts;
}

let readers: PhrasePattern[] | undefined;

function firstMatch(text: string): Slots<string> | undefined {
  for (const read of readers ?? []) {
    const slots = read(text);
    if (slots) return slots;
  }
  return undefined;
}

/** True if the sentence states a fact: "my name is Ada" does, "my test is failing" describes a problem. */
function isFact(slots: { readonly text?: string }, sentence: string): boolean {
  const { text = "" } = slots;
  if (/[?]|[.!;]\s/.test(text) || text.split(/\s+/).length > 12) return false;
  if (/\b(?:remember|note|mind|memori[sz]e|forget)\b/i.test(sentence)) return true;
  return (
    !/^(not|no|too|very|being|broken|slow|wrong|gone|missing|\w+ing)\b/i.test(text) &&
    !/,/.test(text)
  );
}

/** Changes "my" to "your" and the like. */
function toOwner(owner: string): string {
  const sides: Readonly<Record<string, string>> = { my: "your", our: "your", your: "my" };
  return sides[owner.toLowerCase()] ?? "the";
}

function toKey(thing: string): string {
  return thing.toLowerCase().replace(/\s+/g, " ");
}

function listFacts(facts: ReadonlyMap<string, string>): string {
  if (facts.size === 0) return "You have not told me any facts in this conversation.";
  const lines = [...facts].map(([thing, value]) => `- ${thing}: ${value}`);
  return `You told me:\n${lines.join("\n")}`;
}

export const REMEMBERING: readonly Intent[] = [remember, recall];
