/** Makes completions for zsh, with its own `_arguments`. */

import { type CliCommand, type CommandOption, describeOption } from "../command.ts";

export function renderZsh(commands: Readonly<Record<string, CliCommand>>): string {
  const names = Object.entries(commands).map(([name, { summary }]) => describe(name, summary));
  return `#compdef offshoot
# Completions of offshoot for zsh: source <(offshoot completions zsh)
# What is known only now: the models, the runs of the record, the agents.
_offshoot_words() {
  local -a found
  found=(\${(f)"$($_offshoot_program completions words $1 2>/dev/null)"})
  compadd -a found
}
_offshoot() {
  local _offshoot_program=\${words[1]}
  local -a names actions
  names=(
${indent([...names, describe("help", "Show how a command is used")], 4)}
  )
  if (( CURRENT == 2 )); then
    _describe -t commands command names
    return
  fi
  local chosen=\${words[2]}
  shift words
  (( CURRENT-- ))
  case $chosen in
    help) _describe -t commands command names ;;
${Object.entries(commands).map(renderCommand).join("\n")}
  esac
}
if [ "\${funcstack[1]}" = "_offshoot" ]; then
  _offshoot "$@"
else
  compdef _offshoot offshoot
fi
`;
}

function renderCommand([name, { options, subcommands, operands }]: [string, CliCommand]): string {
  const operand = quote(`*:argument:${operands ? ` _offshoot_words ${operands.kind}` : "_files"}`);
  const specs = Object.entries(options).flatMap(([long, option]) => renderOption(long, option));
  const words = subcommands
    ? [quote("1:action:{_describe -t actions action actions}"), operand]
    : [quote("*:argument:_files")];
  const actions = Object.entries(subcommands ?? {}).map(([word, text]) => describe(word, text));
  return [
    `    ${name})`,
    ...(subcommands ? ["      actions=(", indent(actions, 8), "      )"] : []),
    "      _arguments -s -S \\",
    [...specs, quote("(-h --help)-h[Show help]"), quote("(-h --help)--help[Show help]"), ...words]
      .map((spec) => `        ${spec}`)
      .join(" \\\n"),
    "      ;;",
  ].join("\n");
}

/**
 * One specification for each spelling. A flag that was given is offered again only if it may be repeated.
 */
function renderOption(long: string, option: CommandOption): string[] {
  const spellings = [...(option.short === undefined ? [] : [`-${option.short}`]), `--${long}`];
  const others = option.multiple ? "*" : `(${spellings.join(" ")})`;
  const summary = `[${describeOption(option).replace(/[[\]\\]/g, "\\$&")}]`;
  return spellings.map((spelling) => {
    const joined = option.type === "boolean" ? "" : spelling.startsWith("--") ? "=" : "+";
    return quote(`${others}${spelling}${joined}${summary}${renderValue(option)}`);
  });
}

function renderValue({ type, value = "VALUE", choices, offers, complete }: CommandOption): string {
  if (type === "boolean") return "";
  const label = value.toLowerCase().replaceAll(":", "\\:");
  const words = choices ?? offers;
  if (words) return `:${label}:(${words.join(" ")})`;
  // The space keeps `_arguments` from adding words of its own.
  if (complete) return `:${label}: _offshoot_words ${complete}`;
  return value === "FILE" ? `:${label}:_files` : `:${label}: `;
}

function describe(word: string, text: string): string {
  return quote(`${word}:${text.replaceAll(":", "\\:")}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function indent(lines: readonly string[], width: number): string {
  return lines.map((line) => " ".repeat(width) + line).join("\n");
}
