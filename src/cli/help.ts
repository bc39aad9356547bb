/** The help texts, made from the table of commands alone. */

import { type Command, describeOption, type Option } from "./command.ts";
import { COMMANDS } from "./commands.ts";

export function renderHelp(): string {
  const commands = Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary] as const);
  return [
    "Offshoot runs LLM agents that delegate.",
    "",
    "Usage: offshoot COMMAND [ARGUMENTS]",
    "",
    "Commands:",
    ...alignRows([...commands, ["help [COMMAND]", "Show this, or how a command is used"]]),
    "",
    "Flags:",
    ...alignRows([
      ["-h, --help", "Show this"],
      ["-v, --version", "Show the version"],
    ]),
    "",
    "Start here:",
    ...(COMMANDS["run"]?.examples ?? []).slice(0, 1).map((example) => `  ${example}`),
    "",
  ].join("\n");
}

export function renderCommandHelp(name: string, command: Command): string {
  const { summary, usage, options, subcommands, examples } = command;
  const flags = Object.entries(options).map(([long, option]) => toFlagRow(long, option));
  const words = [`offshoot ${name}`, usage, "[FLAGS]"].filter((word) => word !== "");
  return [
    `${summary}.`,
    "",
    `Usage: ${words.join(" ")}`,
    "",
    ...(subcommands ? [...alignRows(Object.entries(subcommands)), ""] : []),
    "Flags:",
    ...alignRows([...flags, ["-h, --help", "Show this"]]),
    "",
    examples.length === 1 ? "Example:" : "Examples:",
    ...examples.map((example) => `  ${example}`),
    "",
  ].join("\n");
}

/** `-o, --output FORMAT`, and what it is with the words it takes. */
function toFlagRow(long: string, option: Option): [string, string] {
  const short = option.short === undefined ? "    " : `-${option.short}, `;
  const value = option.type === "boolean" ? "" : ` ${option.value ?? "VALUE"}`;
  const choices = option.choices ? `: ${option.choices.join(", ")}` : "";
  const again = option.multiple ? "; may be given again" : "";
  return [`${short}--${long}${value}`, `${describeOption(option)}${choices}${again}`];
}

function alignRows(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
