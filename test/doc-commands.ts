/** The command lines in blocks of code: those of `offshoot`, as words. */

/** A word with its quotes, or what ends a command: a pipe, a redirection, a comment, the end of `$(…)`. */
const PIECES =
  /'(?<single>[^']*)'|"(?<double>(?:\\.|[^"\\])*)"|(?<end>[|;&><)])|(?<plain>[^\s'"|;&><)]+)|(?<blank>\s+)/g;

/** The words after each `offshoot` of a block of shell lines. Lines of output are not commands. */
export function readCommands(language: string, text: string): string[][] {
  const joined = text.replace(/\\\n\s*/g, " ").replace(/ +#(?: .*)?$/gm, "");
  const lines = joined.split("\n").flatMap((line) => {
    if (/^\$ /.test(line)) return [line.slice(2)];
    return language === "console" || /^\$ /m.test(text) ? [] : [line];
  });
  return lines.flatMap((line) =>
    [...line.matchAll(/(?:^|\$\(|[|;&] *|\w=\S+ |\bexec \S+ |-- )(?:\.\/)?offshoot(?= |$)/g)].map(
      ({ 0: found, index }) => toWords(line.slice(index + found.length)),
    ),
  );
}

function toWords(rest: string): string[] {
  const words: string[] = [];
  let isOpen = false;
  for (const { groups = {} } of rest.matchAll(PIECES)) {
    if (groups["end"] !== undefined) break;
    if (groups["blank"] !== undefined) {
      isOpen = false;
      continue;
    }
    const piece = groups["single"] ?? groups["double"] ?? groups["plain"] ?? "";
    if (isOpen) words.push(`${words.pop() ?? ""}${piece}`);
    else words.push(piece);
    isOpen = true;
  }
  return words;
}
