/**
 * Makes the help texts from the table of commands alone. On a terminal, lines are broken between words; elsewhere
 * they are as long as they are.
 */

import { breakAtWords } from "../base/text.ts";
import { type CliCommand, type CommandOption, describeOption } from "./command.ts";
import { COMMANDS } from "./commands.ts";

export function renderHelp(columns = Number.POSITIVE_INFINITY): string {
  const commands = Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary] as const);
  const lines = [
    "Offshoot runs LLM agents that delegate.",
    "",
    "Usage: offshoot COMMAND [ARGUMENTS]",
    "",
    "Commands:",
    ...alignRows([...commands, ["help [COMMAND]", "Show this, or how a command is used"]], columns),
    "",
    "Flags:",
    ...alignRows(
      [
        ["-h, --help", "Show this"],
        ["-v, --version", "Show the version"],
      ],
      columns,
    ),
    "",
    "Start here:",
    ...(COMMANDS["run"]?.examples ?? []).slice(0, 1).map((example) => `  ${example}`),
    "",
  ];
  return lines.map((line) => wrap(line, columns)).join("\n");
}

export function renderCommandHelp(
  name: string,
  command: CliCommand,
  columns = Number.POSITIVE_INFINITY,
): string {
  const { summary, usage, options, subcommands, input, examples } = command;
  const flags = Object.entries(options).flatMap(([long, option]) => toFlagRows(long, option));
  const words = [`offshoot ${name}`, usage, "[FLAGS]"].filter((word) => word !== "");
  const lines = [
    `${summary}.`,
    "",
    `Usage: ${words.join(" ")}`,
    "",
    ...(subcommands ? [...alignRows(Object.entries(subcommands), columns), ""] : []),
    "Flags:",
    ...alignRows([...flags, ["-h, --help", "Show this"]], columns),
    "",
    ...(input ? ["Fields of the payload:", ...alignFields(input, columns), ""] : []),
    examples.length === 1 ? "Example:" : "Examples:",
    ...examples.map((example) => `  ${example}`),
    "",
  ];
  return lines.map((line) => wrap(line, columns)).join("\n");
}

/**
 * `-o, --output FORMAT`, and its description with the values it accepts. Many values get rows of their own.
 */
function toFlagRows(long: string, option: CommandOption): [string, string][] {
  const short = option.short === undefined ? "    " : `-${option.short}, `;
  const value = toPlaceholder(option);
  const choices = option.choices ? `: ${option.choices.join(", ")}` : "";
  const again = option.multiple ? "; may be repeated" : "";
  const head = `${describeOption(option)}${choices}${again}`;
  const offers = toLines(option.offers ?? []);
  return [
    [`${short}--${long}${value}`, offers.length === 0 ? head : `${head}:`],
    ...offers.map((line): [string, string] => ["", line]),
  ];
}

function toPlaceholder({ type, value = "VALUE", optional }: CommandOption): string {
  if (optional) return ` [${value}]`;
  return type === "boolean" ? "" : ` ${value}`;
}

/** Room beside the names of flags, on a terminal of 100 columns. */
const OFFERS_CHARS = 60;

/** Values separated by commas, as many on a line as fit. */
function toLines(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const isFit = last !== undefined && last.length + word.length + 2 <= OFFERS_CHARS;
    if (isFit) lines.push(`${lines.pop()}, ${word}`);
    else lines.push(word);
  }
  return lines.map((line, at) => (at < lines.length - 1 ? `${line},` : line));
}

/** A description beside a name needs this many columns, else it goes below the name. */
const LEAST_COLUMNS = 30;

function alignRows(rows: readonly (readonly [string, string])[], columns: number): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  if (columns - width - 4 < LEAST_COLUMNS) {
    return rows.flatMap(([left, right]) => [`  ${left.trim()}`, `      ${right}`]);
  }
  return rows.map(([left, right]) => {
    const lines = breakAtWords(right, columns - width - 4).join(`\n${" ".repeat(width + 4)}`);
    return `  ${left.padEnd(width)}  ${lines}`;
  });
}

/** Their descriptions are sentences, which are broken in a file too. */
const FIELDS_COLUMNS = 100;

function alignFields(fields: Readonly<Record<string, string>>, columns: number): string[] {
  return alignRows(Object.entries(fields), Math.min(columns, FIELDS_COLUMNS));
}

/**
 * Breaks lines that are too long. Their continuation begins in the same column or a little later.
 */
function wrap(text: string, columns: number): string {
  if (text.includes("\n") || text.length <= columns) return text;
  const indent = /^ */.exec(text)?.[0] ?? "";
  const further = `${indent}${indent.length === 6 ? "" : "  "}`;
  return `${indent}${breakAtWords(text.trim(), columns - further.length).join(`\n${further}`)}`;
}
