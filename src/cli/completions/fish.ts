/** Makes completions for fish: one line for each word that can be typed. */

import {
  type CliCommand,
  type CommandOption,
  type CompletedKind,
  describeOption,
} from "../command.ts";

export function renderFish(commands: Readonly<Record<string, CliCommand>>): string {
  const names = Object.entries(commands).map(([name, { summary }]) =>
    line(["-n __fish_use_subcommand", `-a ${name}`, describe(summary)]),
  );
  return [
    "# Completions of offshoot for fish: offshoot completions fish | source",
    "complete -c offshoot -f",
    ...names,
    line(["-n __fish_use_subcommand", "-a help", describe("Show how a command is used")]),
    line(["-n __fish_use_subcommand", "-l version", describe("Show the version")]),
    line(["-s h -l help", describe("Show help")]),
    line([seen("help"), `-a ${quote(Object.keys(commands).join(" "))}`]),
    ...Object.entries(commands).flatMap(renderCommand),
    "",
  ].join("\n");
}

function renderCommand([name, command]: [string, CliCommand]): string[] {
  const { options, subcommands = {}, operands } = command;
  const words = Object.keys(subcommands).join(" ");
  const none = `-n ${quote(`__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${words}`)}`;
  return [
    ...Object.entries(subcommands).map(([word, text]) =>
      line([none, `-a ${word}`, describe(text)]),
    ),
    ...(operands ? [renderOperands(name, Object.keys(subcommands), operands)] : []),
    ...Object.entries(options).map(([long, option]) => renderOption(seen(name), long, option)),
  ];
}

function renderOperands(
  name: string,
  subcommands: readonly string[],
  { kind, notFor }: NonNullable<CliCommand["operands"]>,
): string {
  const those = subcommands.filter((word) => !notFor.includes(word)).join(" ");
  const condition = `__fish_seen_subcommand_from ${name}; and __fish_seen_subcommand_from ${those}`;
  return line([`-n ${quote(condition)}`, `-a ${quote(toLooked(kind))}`]);
}

/** fish runs it when it completes the word. */
function toLooked(kind: CompletedKind): string {
  return `(offshoot completions words ${kind} 2>/dev/null)`;
}

function renderOption(condition: string, long: string, option: CommandOption): string {
  const short = option.short === undefined ? "" : `-s ${option.short}`;
  return line([
    condition,
    short,
    `-l ${long}`,
    renderValue(option),
    describe(describeOption(option)),
  ]);
}

/** `-x`: the value is not a file; `-rF`: it is one. */
function renderValue({ type, value, choices, offers, complete }: CommandOption): string {
  if (type === "boolean") return "";
  const words = choices ?? offers;
  if (words) return `-x -a ${quote(words.join(" "))}`;
  if (complete) return `-x -a ${quote(toLooked(complete))}`;
  return value === "FILE" ? "-r -F" : "-x";
}

function line(parts: readonly string[]): string {
  return ["complete -c offshoot", ...parts.filter((part) => part !== "")].join(" ");
}

function seen(name: string): string {
  return `-n ${quote(`__fish_seen_subcommand_from ${name}`)}`;
}

function describe(text: string): string {
  return `-d ${quote(text)}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
