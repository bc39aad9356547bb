/** Intents that need no tools and no facts: repeating, greeting, and describing the model itself. */

import { clip } from "../../../base/text.ts";
import { unquote } from "../slots.ts";
import { WAYS_TO_A_MODEL } from "../ways-to-a-model.ts";
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
  // "Say something about cats" asks for a new text, which this model cannot write.
  accept: ({ loose = "", word = "OK" }) => !NEW_WORDS.test(loose) && isCode(word),
  plan({ text, loose, word }) {
    const asked = text ?? loose ?? word?.replace(/[.!]$/, "") ?? "";
    const words = unquote(asked.replace(/[\s,]+and nothing else\.?$/i, "").trim());
    return { text: words, data: { text: words, answer: words } };
  },
});

const NEW_WORDS =
  /^(something|anything|what|why|how|who|when|where|which|whether|if|a|an|the|more|your|my|it|that|to)\b/i;

/** True for a word to repeat unchanged: `OK`, `PING-1`. The name of an answer format is not such a word. */
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

const thank = defineIntent<"leaving">({
  name: "thank",
  summary: "take thanks and goodbyes",
  tools: [],
  phrasings: ["thanks", "thank you!", "thanks a lot", "bye", "goodbye", "quit", "exit"],
  reads: "typed",
  templates: [
    "[(ok|great|cool)] (thanks|thank you|thx|cheers) [(a lot|so much|very much|again)]",
    "{leaving=leave} [(now|then)]",
  ],
  plan: ({ leaving }) => ({
    text:
      leaving === undefined
        ? "You are welcome."
        : "Goodbye. There is nothing to close: `offshoot run` ends with each answer.",
  }),
});

const OTHER_MODELS =
  "(chatgpt|gpt|gpt-?\\d\\S*|openai|claude|anthropic|gemini|copilot|llama|ollama|mistral|deepseek)";

const aboutModel = defineIntent({
  name: "about-model",
  summary: "say which model I am",
  tools: [],
  phrasings: [
    "what model are you?",
    "which model is this",
    "are you ChatGPT?",
    "what is your name?",
    "who made you?",
    "which language model am I talking to?",
  ],
  templates: [
    "(what|which) [language] (model|ai|llm|bot) (are you|is this|am i (talking|speaking) (to|with)|do you use|are you using|is running)",
    `(are you|is this) [really] ${OTHER_MODELS}`,
    "(what is|what's|tell me) your (name|model)",
    "who (made|built|wrote|created) you",
  ],
  plan: () => ({
    text: `I am \`embedded/offline\`, which is built into Offshoot. I am not a language model: I read plain requests of fixed kinds and work with the real tools. For a real model: ${WAYS_TO_A_MODEL}.`,
    data: { model: "embedded/offline" },
  }),
});

const useModel = defineIntent({
  name: "use-model",
  summary: "say how to use a real model",
  tools: [],
  phrasings: [
    "how do I use a real model?",
    "how can I get a better model",
    "how do I use Claude?",
    "how do I set my API key?",
    "how do I switch to a local model?",
    "how do I choose another model?",
  ],
  templates: [
    "how (do|can|should|would) (i|we) (use|get|choose|pick|select|set up|connect|connect to|switch to|switch|change|configure|install|run) [(a|an|the|another|my)] [(real|better|different|local|open|other|bigger)] [language] (models?|ai|llm)",
    `how (do|can|should|would) (i|we) (use|connect|connect to|switch to|set up) ${OTHER_MODELS}`,
    "how (do|can|should|would) (i|we) (set|add|give|use|configure|enter) [(my|an|the|a)] [(openai|anthropic|gemini)] [api] keys?",
    "(where|how) (do|can) i (put|get) [(my|an|the|a)] [api] key",
  ],
  plan: () => ({
    text: [
      "There are three ways to a real model:",
      '- With a key: `export OPENAI_API_KEY=…` (or ANTHROPIC_API_KEY, GEMINI_API_KEY, …), then `offshoot run -m openai/gpt-5.1 "…"`. Without `-m` a key that is set chooses its vendor.',
      '- With Ollama: `ollama serve`, `ollama pull NAME`, then `offshoot run -m ollama/NAME "…"`.',
      '- With a small open model of your own: `offshoot models pull NAME`, then `offshoot run -m gguf:NAME "…"`.',
      "`offshoot models` lists what is there, `offshoot doctor` says what is missing.",
    ].join("\n"),
  }),
});

/**
 * The intent that lists what `table` contains. The table is passed in because this file's intents are part
 * of it.
 */
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
      "(help|help me|/help|usage|man)",
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

export const TALKING: readonly Intent[] = [repeat, greet, thank, listTools, aboutModel, useModel];
