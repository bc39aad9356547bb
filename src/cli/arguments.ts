/**
 * Reads the arguments that a person typed after a command, by the command's row. A mistake is refused with the
 * nearest valid word.
 */

import { parseArgs } from "node:util";
import { Failure } from "../base/failure.ts";
import { clip, nearest } from "../base/text.ts";
import type { CliCommand, CommandCall, CommandOption } from "./command.ts";

/** Undefined when the help was requested, whatever the other words are. */
export function parseArguments(
  name: string,
  command: CliCommand,
  args: readonly string[],
): CommandCall | undefined {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([long, option]) => [long, toParsed(option)]),
  );
  // Not strict: the parser's own messages name neither the command nor the nearest flag.
  const { tokens } = parseArgs({
    args: [...args],
    options: { ...options, help: { type: "boolean", short: "h" } },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = tokens.filter((token) => token.kind === "option");
  if (given.some((token) => token.name === "help")) return undefined;
  const values: Record<string, string | boolean | string[]> = {};
  const taken = new Set<number>();
  for (const token of given) {
    const option = findOption(name, command, { token, typed: args[token.index] });
    const value = readOptional(token, option, { args, taken }) ?? readValue(name, token, option);
    if (typeof value === "boolean" || !option.multiple) values[token.name] = value;
    else values[token.name] = [...((values[token.name] as string[] | undefined) ?? []), value];
  }
  const words = tokens.flatMap((token) =>
    token.kind === "positional" && !taken.has(token.index) ? [token.value] : [],
  );
  checkWords(name, command, words);
  for (const token of given) checkOnly(name, command, { token, words });
  return { options: values, words };
}

interface Typed {
  readonly args: readonly string[];
  /** The positions of words that belong to a flag before them. */
  readonly taken: Set<number>;
}

/**
 * The value of a flag whose value is optional: joined to it, or the next word if it looks like one.
 */
function readOptional(
  { index, value }: Token & { readonly index: number },
  { optional }: CommandOption,
  { args, taken }: Typed,
): string | undefined {
  if (!optional) return undefined;
  const next = args[index + 1];
  if (value === undefined && next !== undefined && optional.test(next)) {
    taken.add(index + 1);
    return next;
  }
  return value !== undefined && optional.test(value) ? value : undefined;
}

interface Token {
  readonly name: string;
  /** As typed: `-m`, `--model`. */
  readonly rawName: string;
  readonly value?: string | undefined;
  /** True if the value was joined to the flag: `--model=x`, `-mx`. */
  readonly inlineValue?: boolean | undefined;
}

function toParsed({ type, short, multiple }: CommandOption): {
  type: CommandOption["type"];
  multiple: boolean;
  short?: string;
} {
  return { type, multiple: multiple === true, ...(short === undefined ? {} : { short }) };
}

function findOption(
  name: string,
  { options, usage }: CliCommand,
  { token, typed = "" }: { readonly token: Token; readonly typed: string | undefined },
): CommandOption {
  const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
  if (option) return option;
  const known = [...Object.keys(options), "help"];
  // A prompt that begins with a dash, as `-1 + 2`.
  if (usage.includes("PROMPT") && /^-\d|\s/.test(typed)) {
    const message = `\`${clip(typed, 60)}\` begins with a dash and is not a flag. Put \`--\` before a prompt like that: \`offshoot ${name} -- "${clip(typed, 60)}"\`.`;
    throw refuse(message, name);
  }
  const guess = token.rawName.startsWith("--") ? nearest(token.name, known) : undefined;
  const hint = guess === undefined ? "" : ` Did you mean \`--${guess}\`?`;
  throw refuse(`Unknown flag \`${clip(token.rawName, 60)}\`.${hint}`, name);
}

function readValue(
  name: string,
  { rawName, value, inlineValue }: Token,
  option: CommandOption,
): string | boolean {
  if (option.type === "boolean") {
    if (value === undefined) return true;
    if (option.optional) {
      const message = `\`${rawName}\` takes ${option.value ?? "a value"}, not \`${clip(value, 40)}\`.`;
      throw refuse(message, name);
    }
    throw refuse(`\`${rawName}\` takes no value.`, name);
  }
  // `--model --think` forgot the model; `--system "- be brief"` and `--temperature -1` did not.
  const isFlag = !inlineValue && /^--?[a-z][\w-]*(=|$)/i.test(value ?? "");
  if (value === undefined || isFlag) {
    throw refuse(`\`${rawName}\` needs a value: ${option.value ?? "VALUE"}.`, name);
  }
  if (!option.choices || option.choices.includes(value)) return value;
  const guess = nearest(value, option.choices);
  const hint = guess === undefined ? "" : ` Did you mean \`${guess}\`?`;
  const choices = option.choices.join(", ");
  throw refuse(`\`${rawName}\` takes one of ${choices}, not \`${clip(value, 40)}\`.${hint}`, name);
}

function checkWords(
  name: string,
  { subcommands, usage }: CliCommand,
  words: readonly string[],
): void {
  const [first] = words;
  if (first === undefined) return;
  if (usage === "")
    throw refuse(`\`offshoot ${name}\` takes no words, but got \`${clip(first, 60)}\`.`, name);
  if (!subcommands || Object.hasOwn(subcommands, first)) return;
  const known = Object.keys(subcommands);
  const guess = SAME_MEANING[first]?.find((name) => known.includes(name)) ?? nearest(first, known);
  const hint =
    guess === undefined ? `Available: ${known.join(", ")}.` : `Did you mean \`${guess}\`?`;
  throw refuse(`Unknown command \`offshoot ${name} ${clip(first, 60)}\`. ${hint}`, name);
}

/** Names that other programs have for subcommands of ours. */
const SAME_MEANING: Readonly<Record<string, readonly string[]>> = {
  add: ["new", "create", "set"],
  anthropic: ["claude"],
  cat: ["show"],
  create: ["new"],
  get: ["show"],
  kill: ["cancel"],
  log: ["show"],
  logs: ["show"],
  ls: ["list"],
  remove: ["delete", "revoke"],
  rm: ["remove", "delete", "revoke"],
  stop: ["cancel"],
  try: ["test"],
  watch: ["follow"],
};

/** A flag that its subcommand does not know would be ignored in silence. */
function checkOnly(
  name: string,
  { options, subcommands = {} }: CliCommand,
  { token, words }: { readonly token: Token; readonly words: readonly string[] },
): void {
  const { only } = options[token.name] ?? {};
  // Without a word, a command does what its first row says.
  const subcommand = words[0] ?? Object.keys(subcommands)[0] ?? "";
  if (!only || only.includes(subcommand)) return;
  const others = only.map((other) => `\`${name} ${other}\``).join(", ");
  throw refuse(`\`${token.rawName}\` is for ${others}, not for \`${name} ${subcommand}\`.`, name);
}

function refuse(problem: string, name: string): Failure {
  return new Failure("invalid_request", `${problem} See \`offshoot ${name} --help\`.`);
}
