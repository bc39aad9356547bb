/** The row of `offshoot skills` in the table of commands. */

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
