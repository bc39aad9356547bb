/** Facts told earlier in the conversation, and questions about them. They need no tool. */

import type { Conversation } from "../conversation.ts";
import { compileTemplate, splitSentences, toWording } from "../wording.ts";
import { defineIntent, type Intent } from "./intent.ts";

const TELL = "(remember|note|note down|keep in mind|memorise|memorize|don't forget)";
/** With these words in front a fact is surely meant to be kept. */
const EXPLICIT = [
  `${TELL} [that] [the] [(my|our|your)] {thing} (is|are|=) {text}`,
  `${TELL} [the] [my] {thing} : {text}`,
];
const NAMES = ["[(you can|you may)] call me {text}", "i am called {text}", "i'm called {text}"];
const PLAIN = ["my {thing} (is|are) [called] {text}", "my {thing}'s {text}"];

const remember = defineIntent<"thing" | "text">({
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
  plan(slots) {
    const { thing = "name", text = "" } = slots;
    const owner = slots.thing === undefined || /\bmy\b/i.test(thing) ? "your " : "";
    return { text: `I will remember that ${owner}${withoutOwner(thing)} is ${text}.`, data: { [toKey(thing)]: text } };
  },
});

const recall = defineIntent<"thing">({
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
    "(what is|what's|what are|what was) my {thing} [again]",
    "[(do you|can you)] (remember|recall|know) (my|what my) {thing} [is]",
    "(tell me|say|give me|repeat) (my|what my) {thing} [is]",
    "who am i",
    "what (did i tell you|have i told you|do you (know|remember)) [about me] [so far]",
    "what facts do you (know|remember)",
    "(what is|what's|what are|what was|which is) the {thing} [again]",
    "(do you|can you) (remember|recall) the {thing}",
  ],
  // "What is the capital of France" is no question about the conversation unless it was told.
  accept: ({ thing }, conversation) =>
    thing === undefined || isMine(conversation) || readFacts(conversation).has(toKey(thing)),
  plan({ thing }, conversation) {
    const facts = readFacts(conversation);
    const isName = /\bwho am i\b/i.test(conversation.asked.join(" "));
    if (thing === undefined && !isName) return { text: listFacts(facts), data: Object.fromEntries(facts) };
    const key = toKey(thing ?? "name");
    const value = facts.get(key);
    const owner = isMine(conversation) || isName ? "your" : "the";
    if (value === undefined) return { text: `You have not told me ${owner} ${key} in this conversation.`, data: {} };
    return { text: `${owner === "your" ? "Your" : "The"} ${key} is ${value}.`, data: { [key]: value, answer: value, value } };
  },
});

/** Everything the user asked to keep, later facts over earlier ones. */
export function readFacts({ earlier, asked }: Conversation): Map<string, string> {
  readers ??= [...EXPLICIT, ...NAMES, ...PLAIN].map(compileTemplate);
  const facts = new Map<string, string>();
  for (const sentence of [...earlier, ...asked].flatMap(splitSentences)) {
    const { plain } = toWording(sentence);
    const slots = firstMatch(plain);
    if (slots && isFact(slots, plain)) facts.set(toKey(slots["thing"] ?? "name"), slots["text"] ?? "");
  }
  return facts;
}

let readers: ReturnType<typeof compileTemplate>[] | undefined;

function firstMatch(text: string): Record<string, string> | undefined {
  for (const read of readers ?? []) {
    const slots = read(text);
    if (slots) return slots;
  }
  return undefined;
}

/** "My test is failing" tells of a trouble, "my name is Ada" gives a fact. */
function isFact(slots: { readonly text?: string }, sentence: string): boolean {
  const { text = "" } = slots;
  if (text.includes("?") || text.split(/\s+/).length > 12) return false;
  if (new RegExp(`\\b(?:remember|note|mind|memori[sz]e|forget)\\b`, "i").test(sentence)) return true;
  return !/^(not|no|too|very|being|broken|slow|wrong|gone|missing|\w+ing)\b/i.test(text) && !/,/.test(text);
}

function isMine({ asked }: Conversation): boolean {
  return /\bmy\b/i.test(asked.join(" "));
}

function toKey(thing: string): string {
  return withoutOwner(thing).toLowerCase();
}

function withoutOwner(thing: string): string {
  return thing.replace(/^(?:my|the|our|your)\s+/i, "").replace(/\s+/g, " ");
}

function listFacts(facts: ReadonlyMap<string, string>): string {
  if (facts.size === 0) return "You have not told me any facts in this conversation.";
  const lines = [...facts].map(([thing, value]) => `- ${thing}: ${value}`);
  return `You told me:\n${lines.join("\n")}`;
}

export const REMEMBERING: readonly Intent[] = [remember, recall];
