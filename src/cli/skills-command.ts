/** `offshoot skills` as data. */

import type { Command } from "./command.ts";

export const SKILLS_COMMAND: Command = {
  summary: "The skills that runs may load, as folders with a SKILL.md",
  usage: "[list | show NAME | check]",
  options: { json: { type: "boolean", summary: "JSON instead of text" } },
  subcommands: {
    list: "The user's and the project's, and which count",
    show: "One skill: where it is, when it is of use, and its instructions",
    check: "Say what is wrong with them",
  },
  examples: ["offshoot skills list", "offshoot skills check"],
  operands: { kind: "skills", notFor: ["list", "check"] },
  load: () => import("./commands/skills.ts"),
};
