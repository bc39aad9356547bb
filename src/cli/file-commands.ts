/** The rows of the commands for what a user writes as files, in the table of commands: agents, skills, templates. */

import type { CliCommand } from "./command.ts";

export const SKILLS_COMMAND: CliCommand = {
  summary: "Manage skills that runs may load, as folders with a SKILL.md",
  usage: "[list | show NAME | check]",
  options: { json: { type: "boolean", summary: "JSON instead of text" } },
  subcommands: {
    list: "List the user's and the project's, and which are used",
    show: "Show one skill: its file, when to use it, and its instructions",
    check: "Check the files and report problems",
  },
  examples: ["offshoot skills list", "offshoot skills check"],
  operands: { kind: "skills", notFor: ["list", "check"] },
  load: () => import("./commands/skills.ts"),
};

/**
 * The row of `offshoot templates` in the table of commands, and the flags of `run` that use a template.
 */

export const TEMPLATE_OPTIONS = {
  template: {
    type: "string",
    short: "t",
    value: "NAME",
    complete: "templates",
    summary: "Ask with this prompt template; the prompt goes into it",
  },
  var: {
    type: "string",
    value: "NAME=VALUE",
    multiple: true,
    summary: "A variable of the template",
  },
} as const satisfies CliCommand["options"];

export const TEMPLATES_COMMAND: CliCommand = {
  summary: "Manage prompt templates with variables, for `run -t NAME`",
  usage: "[list | show | new | trust | untrust] [NAME]",
  options: {
    json: { type: "boolean", only: ["list", "show"], summary: "JSON instead of text" },
    project: { type: "boolean", only: ["new"], summary: "one of the project, not of the user" },
  },
  subcommands: {
    list: "List the user's and the project's, and which are used",
    show: "Show one template: its file, variables, model and text",
    new: "Write a new file to start from",
    trust: "Trust the `model` of a project's template, as its file is now",
    untrust: "Remove that trust",
  },
  examples: [
    "offshoot templates new review",
    "offshoot run -t review --var language=German @src/main.ts",
  ],
  operands: { kind: "templates", notFor: ["list", "new"] },
  load: () => import("./commands/templates.ts"),
};

export const AGENTS_COMMAND: CliCommand = {
  summary: "Manage agents that runs may delegate to, as files",
  usage: "[list | show | new | check | trust | untrust] [NAME]",
  options: {
    json: { type: "boolean", only: ["list", "show", "check"], summary: "JSON instead of text" },
    project: { type: "boolean", only: ["new"], summary: "one of the project, not of the user" },
  },
  subcommands: {
    list: "List the user's and the project's, and which are used",
    show: "Show one agent: its model, tools, budget and instructions",
    new: "Write a new file to start from",
    check: "Check the files and report problems",
    trust: "Trust an agent of the project, as its file is now",
    untrust: "Remove that trust",
  },
  examples: ["offshoot agents new reviewer", "offshoot agents check"],
  operands: { kind: "agents", notFor: ["list", "new"] },
  load: () => import("./commands/agents.ts"),
};
