/** What is said when a request is not understood, or cannot be served with the tools at hand. */

import type { ModelRequest } from "../provider.ts";
import type { Answer, Intent } from "./intents/intent.ts";
import { INTENTS } from "./intents/table.ts";

/** One paragraph: what this is, what it can do, and the three shortest ways to a real model. */
export function answerUnknown(): Answer {
  const abilities = INTENTS.map(({ summary }) => summary);
  const last = abilities.pop();
  const text = [
    "I am `embedded/offline`, which is no language model but a fixed interpreter of plain requests, and I do not understand this one.",
    `I can ${abilities.join(", ")} and ${last}; ask me \`help\` for an example of each.`,
    "For anything else use a real model:",
    "with a key (`export OPENAI_API_KEY=…`, then `-m openai/MODEL`),",
    "with Ollama (`ollama serve`, then `-m ollama/MODEL`),",
    "or with a small open one of your own (`offshoot models pull NAME`).",
  ].join(" ");
  return { text };
}

/** The same in one sentence, for a field of a JSON answer. */
export const UNKNOWN_IN_SHORT = "embedded/offline is no language model and does not know.";

export function answerMissingTool(
  tool: string,
  intent: Intent,
  { toolChoice }: ModelRequest,
): Answer {
  const needed = `I need the tool \`${tool}\` to ${intent.summary}`;
  if (toolChoice === "none")
    return { text: `${needed}, and this request forbids tool calls (\`tool_choice: none\`).` };
  // An intent that has a choice of tools names one that is not among its own.
  const names = intent.tools.includes(tool) ? intent.tools.join(",") : tool;
  return { text: `${needed}, and it is not offered. Allow it with \`--tools ${names}\`.` };
}

export function answerUnknownTool(tool: string, { tools, toolChoice }: ModelRequest): Answer {
  if (toolChoice === "none")
    return {
      text: `I cannot call \`${tool}\`: this request forbids tool calls (\`tool_choice: none\`).`,
    };
  const offered = tools.flatMap((one) => (one.type === "function" ? [`\`${one.name}\``] : []));
  const known = offered.length > 0 ? `These are: ${offered.join(", ")}.` : "None is.";
  return {
    text: `The tool \`${tool}\` is not offered. ${known} Allow it with \`--tools ${tool}\`.`,
  };
}
