/** The row of `offshoot chat` in the table of commands. */

import type { CliCommand } from "./command.ts";
import { MODEL_OPTIONS } from "./model-options.ts";
import { PROMPT_OPTIONS, SESSION_OPTIONS } from "./session-options.ts";
import { STORE_OPTION } from "./store-option.ts";
import { APPROVE_OPTION, RULE_OPTIONS } from "./tool-options.ts";

export const CHAT_COMMAND: CliCommand = {
  summary: "Talk to an agent in a session on the terminal; `offshoot` alone does the same",
  usage: "[PROMPT]",
  options: {
    continue: SESSION_OPTIONS.continue,
    session: SESSION_OPTIONS.session,
    agent: {
      type: "string",
      value: "AGENT",
      complete: "agents",
      summary: "Talk to this agent's file; flags win over what it says",
    },
    ...MODEL_OPTIONS,
    system: {
      type: "string",
      short: "s",
      value: "TEXT",
      summary: "Instructions for the model, or @FILE",
    },
    tools: { type: "string", value: "LIST", summary: "Tools it may use; `none` for none" },
    ...APPROVE_OPTION,
    ...RULE_OPTIONS,
    "max-cost": {
      type: "string",
      value: "USD",
      summary: "Limit in dollars for each prompt, subagents included",
    },
    think: { type: "boolean", summary: "Ask the model to reason, and show it" },
    verbose: { type: "boolean", summary: "Show the complete output of tools" },
    plain: {
      type: "boolean",
      summary: "Plain lines that are never redrawn; the same as ACCESSIBLE=1",
    },
    ...PROMPT_OPTIONS,
    ...STORE_OPTION,
    "no-store": { type: "boolean", summary: "Keep no record of the session" },
  },
  examples: [
    "offshoot",
    'offshoot chat "What does this project do?"',
    "offshoot chat -c",
    "offshoot chat -m anthropic/claude-sonnet-5-5 --max-cost 0.50",
  ],
  keys: true,
  load: () => import("./commands/chat.ts"),
};
