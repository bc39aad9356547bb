/** The row of `offshoot chat` in the table of commands. */

import { WIRES } from "../providers/wires.ts";
import type { CliCommand } from "./command.ts";
import { PROMPT_OPTIONS, SESSION_OPTIONS } from "./session-options.ts";
import { STORE_OPTION } from "./store-option.ts";

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
    model: {
      type: "string",
      short: "m",
      value: "VENDOR/MODEL",
      complete: "models",
      summary: "The model to ask",
    },
    provider: {
      type: "string",
      value: "NAME",
      summary: "The API to speak, in place of the vendor's own",
      offers: [...Object.keys(WIRES), "embedded"],
    },
    url: {
      type: "string",
      value: "URL",
      summary: "The server's base URL, in place of the vendor's",
    },
    "api-key-name": {
      type: "string",
      value: "VARIABLE",
      summary: "The environment variable that holds the key",
    },
    system: {
      type: "string",
      short: "s",
      value: "TEXT",
      summary: "Instructions for the model, or @FILE",
    },
    tools: { type: "string", value: "LIST", summary: "Tools it may use; `none` for none" },
    approve: {
      type: "string",
      value: "MODE",
      choices: ["ask", "auto", "deny"],
      summary: "What to do about risky tool calls (ask)",
    },
    allow: {
      type: "string",
      value: "RULE",
      multiple: true,
      summary: "Allow calls without asking: `shell(git *)`",
    },
    ask: {
      type: "string",
      value: "RULE",
      multiple: true,
      summary: "Ask about calls, even if another rule allows them",
    },
    deny: {
      type: "string",
      value: "RULE",
      multiple: true,
      summary: "Refuse calls: `path(secrets/**)`",
    },
    sandbox: {
      type: "string",
      value: "LEVEL",
      choices: ["none", "process", "sandbox"],
      summary: "How commands are isolated (process)",
    },
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
