/** The flags that decide which tool calls are made, for commands that ask the person who typed them. */

import type { CliCommand } from "./command.ts";

export const APPROVE_OPTION = {
  approve: {
    type: "string",
    value: "MODE",
    choices: ["ask", "auto", "deny"],
    summary: "What to do about risky tool calls (ask)",
  },
} as const satisfies CliCommand["options"];

/** Rules for calls, and where their commands run. */
export const RULE_OPTIONS = {
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
} as const satisfies CliCommand["options"];
