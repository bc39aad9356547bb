/** `offshoot templates` as data, and the flags of `run` that use one. */

import type { Command } from "./command.ts";

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
} as const satisfies Command["options"];

export const TEMPLATES_COMMAND: Command = {
  summary: "Prompt templates with variables, as files, for `run -t NAME`",
  usage: "[list | show | new | trust | untrust] [NAME]",
  options: {
    json: { type: "boolean", only: ["list", "show"], summary: "JSON instead of text" },
    project: { type: "boolean", only: ["new"], summary: "one of the project, not of the user" },
  },
  subcommands: {
    list: "The user's and the project's, and which count",
    show: "One template: its file, variables, model and text",
    new: "Write one to start from",
    trust: "Let the `model` of a project's template count, as the file is now",
    untrust: "Take that back",
  },
  examples: [
    "offshoot templates new review",
    "offshoot run -t review --var language=German @src/main.ts",
  ],
  operands: { kind: "templates", notFor: ["list", "new"] },
  load: () => import("./commands/templates.ts"),
};
