/** Intents that need no tool and no facts: repeating, greeting, and telling about itself. */

import { clip } from "../../../base/text.ts";
import { unquote } from "../slots.ts";
import { defineIntent, type Intent } from "./intent.ts";

const repeat = defineIntent<"text" | "loose" | "word">({
  name: "repeat",
  summary: "repeat words exactly",
  tools: [],
  phrasings: [
    "say hello",
    "reply with exactly: The quick brown fox.",
    "repeat after me: one two three",
    "Please echo 'ping'",
    'answer with only "OK"',
    "Respond with the single word ready",
    "say 'done' and nothing else",
  ],
  reads: "kept",
  templates: [
    "(say|reply|answer|respond|echo|print|repeat|write|output|return) [with] [(exactly|only|just)] {text=quoted} [(and nothing else|only|exactly|please)]",
    "(reply|answer|respond) [with] (exactly|only|just) [(this|the text|the words?|the following|the following text|the sentence)] {text}",
    "(reply|answer|respond|say|write) [with] [(only|just|exactly)] the [single] (words?|text|sentence|phrase) {text}",
    "(repeat|say|write) (after me|exactly|this|the following|back) {text}",
    "repeat : {text}",
    "(say|echo) {loose=text}",
    "(reply|answer|respond) with {word=text}",
  ],
  // "Say something about cats" asks for new words, which there are none of here.
  accept: ({ loose = "", word = "OK" }) => !NEW_WORDS.test(loose) && isCode(word),
  plan({ text, loose, word }) {
    const asked = text ?? loose ?? word?.replace(/[.!]$/, "") ?? "";
    const words = unquote(asked.replace(/[\s,]+and nothing else\.?$/i, "").trim());
    return { text: words, data: { text: words, answer: words } };
  },
});

const NEW_WORDS =
  /^(something|anything|what|why|how|who|when|where|which|whether|if|a|an|the|more|your|my|it|that|to)\b/i;

/** A word to be given back as it is: `OK`, `PING-1`; no format that the answer should have. */
function isCode(word: string): boolean {
  return /^[\p{Lu}\d_-]+[.!]?$/u.test(word) && !/^(JSON|XML|YAML|HTML|CSV|SVG|SQL)\b/.test(word);
}

const HELLO = "(hello|hi|hey|hiya|howdy|greetings|good (morning|afternoon|evening|day))";

const greet = defineIntent({
  name: "greet",
  summary: "greet you back",
  tools: [],
  phrasings: ["hello", "hi there!", "Good morning", "hey", "Hello, how are you?", "good evening."],
  reads: "typed",
  templates: [
    `${HELLO} [(there|everyone|again|you|offshoot)]`,
    `${HELLO} [there] how (are you|do you do|is it going)`,
    "how (are you|do you do) [today]",
  ],
  plan: () => ({
    text: "Hello. I am `embedded/offline`, an interpreter of plain requests that needs no key and no network. Say `help` to see what I understand.",
  }),
});

const listTools = defineIntent({
  name: "list-tools",
  summary: "say which tools I was given",
  tools: [],
  phrasings: [
    "which tools do you have?",
    "what tools can you use",
    "list your tools",
    "show me the available tools",
    "what tools are available?",
    "tell me what tools you have",
  ],
  templates: [
    "(which|what) tools (do you have|have you got|can you use|can you call|are available|are there|are offered|do you know) [here]",
    "(list|show [me]|name|give me|tell me) [(your|the|all|all your|all the)] [available] tools [you have]",
    "(tell me|show me) (which|what) tools (you have|you can use|are available)",
  ],
  plan(_slots, { tools }) {
    const names = tools.map(({ name }) => name);
    const lines = tools.map(
      ({ name, description }) =>
        `- \`${name}\`: ${clip(description ?? "", 100) || "no description"}`,
    );
    const text =
      lines.length === 0
        ? "I was given no tools. Allow some with `--tools read,bash_find`."
        : `I was given these tools:\n${lines.join("\n")}`;
    return { text, data: { tools: names, count: names.length } };
  },
});

/** Helps with what `table` holds; it is passed in because this file's intents are part of it. */
export function defineHelp(table: () => readonly Intent[]): Intent {
  return defineIntent({
    name: "help",
    summary: "say what I understand",
    tools: [],
    phrasings: [
      "what can you do?",
      "help",
      "what are you?",
      "who are you",
      "are you a language model?",
      "how do I use this?",
      "what do you understand",
    ],
    templates: [
      "(help|help me|usage|man)",
      "what (can you do|do you understand|can i ask [you]|can i say|are your abilities|are you able to do) [here]",
      "(what|who) are you",
      "(are you|is this) (a|an) (language model|llm|ai|real model|model|bot|robot|human|person)",
      "how (do i|does one|can i|should i) use (this|you|it)",
      "(which|what) (requests|commands|phrases|questions) do you (understand|know)",
      "(show|list|give) [me] [(your|the)] (commands|abilities|help|examples)",
    ],
    plan() {
      const lines = table().map(({ summary, phrasings }) => `- ${summary}: "${phrasings[0]}"`);
      const text = `I am \`embedded/offline\`: not a language model, but a fixed interpreter of plain requests that works with the real tools. I can:\n${lines.join("\n")}`;
      return { text, data: { commands: table().map(({ name }) => name) } };
    },
  });
}

export const TALKING: readonly Intent[] = [repeat, greet, listTools];
