/**
 * Options as getopt reads them: letters that may be joined, long names that may be shortened. An unknown
 * option may take the next word for its value, so the words after it are uncertain.
 */

export interface OptionTable {
  /** Letters of options without a value. */
  readonly flags?: string;
  /** Letters of options that take a value. */
  readonly values?: string;
  /** Long options; those that take a value end in `=`. */
  readonly long?: string;
  /** Letters of options after which every word belongs to another program. */
  readonly ends?: string;
}

export interface Skipped {
  /** Position of the first word that is not an option, or of the option that ends them. */
  readonly end: number;
  readonly isKnown: boolean;
  readonly isEnded: boolean;
}

/** Skips the options after the program's name. */
export function skipOptions(table: OptionTable, words: readonly string[]): Skipped {
  let isKnown = true;
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") return { end: at + 1, isKnown, isEnded: false };
    if (!word.startsWith("-")) break;
    const option = word.startsWith("--") ? readLong(table, word) : readShort(table, word);
    if (option === "ends") return { end: at, isKnown, isEnded: true };
    isKnown &&= option !== "unknown";
    if (option === "value") at++;
  }
  return { end: at, isKnown, isEnded: false };
}

/**
 * True if a word may be one of these long options. Every beginning of a name counts: getopt completes it if
 * no other option begins with it.
 */
export function isLongOption(names: string, word: string): boolean {
  if (!/^--[^=]/.test(word)) return false;
  const [given = ""] = word.slice(2).split("=", 1);
  return names.split(" ").some((name) => name.startsWith(given));
}

type Option = "alone" | "value" | "unknown" | "ends";

/** Reads a long option: `--signal=KILL` has its value, `--signal KILL` takes the next word. */
function readLong({ long = "" }: OptionTable, word: string): Option {
  const [name = "", value] = word.slice(2).split("=", 2);
  const known = long.split(" ");
  if (known.includes(name)) return "alone";
  if (!known.includes(`${name}=`)) return "unknown";
  return value === undefined ? "value" : "alone";
}

function readShort({ flags = "", values = "", ends = "" }: OptionTable, word: string): Option {
  const letters = [...word.slice(1)];
  const at = letters.findIndex((letter) => !flags.includes(letter));
  // `env -` is `env -i`; elsewhere a dash alone is the input.
  if (at < 0) return letters.length > 0 || flags.includes("i") ? "alone" : "unknown";
  const letter = letters[at] ?? "";
  if (ends.includes(letter)) return "ends";
  if (!values.includes(letter)) return "unknown";
  return at === letters.length - 1 ? "value" : "alone";
}
