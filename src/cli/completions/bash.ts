/** Makes completions for bash, 3.2 (that of macOS) and up. */

import type { CliCommand, CommandOption } from "../command.ts";

export function renderBash(commands: Readonly<Record<string, CliCommand>>): string {
  const names = Object.keys(commands);
  return `# Completions of offshoot for bash: source <(offshoot completions bash)
# What is known only now: the models, the runs of the record, the agents.
_offshoot_words() {
  "\${COMP_WORDS[0]}" completions words "$1" 2>/dev/null
}
_offshoot() {
  local IFS=$'\\n'
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  # \`--flag=value\` comes in three words, because = ends a word in bash.
  if [ "$cur" = "=" ]; then cur=""
  elif [ "$prev" = "=" ]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoteWords([...names, "help", "--help", "--version"])} -- "$cur"))
    return
  fi
  case "\${COMP_WORDS[1]} $prev" in
${Object.entries(commands).flatMap(renderValues).join("\n")}
  esac
  local words=""
  case "\${COMP_WORDS[1]}" in
    help) words=${quoteWords(names)} ;;
${Object.entries(commands).map(renderWords).join("\n")}
  esac
  if [ "\${cur#@}" != "$cur" ]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -P @ -- "\${cur#@}"))
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _offshoot offshoot
`;
}

/** A case for each flag with a value: its choices, files, or nothing if it can be any text. */
function renderValues([name, { options }]: [string, CliCommand]): string[] {
  return Object.entries(options)
    .filter(([, option]) => option.type === "string")
    .map(([long, option]) => {
      const flags = [`--${long}`, ...(option.short === undefined ? [] : [`-${option.short}`])];
      const pattern = flags.map((flag) => `"${name} ${flag}"`).join("|");
      return `    ${pattern}) ${renderValue(option)}return ;;`;
    });
}

function renderValue({ choices, offers, complete, value }: CommandOption): string {
  const words = choices ?? offers;
  if (words) return `COMPREPLY=($(compgen -W ${quoteWords(words)} -- "$cur")); `;
  if (complete) return `COMPREPLY=($(compgen -W "$(_offshoot_words ${complete})" -- "$cur")); `;
  if (value !== "FILE") return "compopt +o default 2>/dev/null; ";
  return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); ';
}

/** Subcommands are offered as the second word only; flags everywhere. */
function renderWords([name, { options, subcommands, operands }]: [string, CliCommand]): string {
  const flags = [
    ...Object.entries(options).flatMap(([long, { short }]) =>
      short === undefined ? [`--${long}`] : [`--${long}`, `-${short}`],
    ),
    "--help",
    "-h",
  ];
  const skipped = ["-*", ...(operands?.notFor ?? [])].join("|");
  const looked = operands
    ? ` if [ "$COMP_CWORD" -eq 3 ]; then case "\${COMP_WORDS[2]}" in ${skipped}) ;; *) words="$words"$'\\n'"$(_offshoot_words ${operands.kind})" ;; esac; fi;`
    : "";
  const first = subcommands
    ? `${looked} [ "$COMP_CWORD" -gt 2 ] || words=${quoteWords([...Object.keys(subcommands), ...flags])} ;;`
    : ";;";
  return `    ${name}) words=${quoteWords(flags)}${subcommands ? ";" : " "}${first}`;
}

/**
 * One on each line, because the script splits only at line ends: a file's name may contain spaces.
 */
function quoteWords(words: readonly string[]): string {
  return `$'${words.join("\\n")}'`;
}
