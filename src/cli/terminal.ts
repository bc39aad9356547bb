/**
 * Text that is not ours, made safe to show on a terminal: no escape sequence, control character or
 * direction override in it reaches the terminal. Only for terminals: files and pipes get what was said.
 *
 * Every output of the process passes `createSafeOutput`, so a name of a file, an agent, a server or a key
 * needs no care where it is printed. Only what is drawn by `draw` keeps its sequences.
 */

import type { Io, Output } from "./io.ts";

/** OSC, DCS, APC, PM and SOS up to their end; CSI; then any other escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
const SEQUENCES = /\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]?|\x1b./gs;

/** C0 but for tab and line feed, DEL, C1, and the marks that turn the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** The output as commands get it. */
export function createSafeOutput(output: Output): Output {
  if (!output.isTerminal) return output;
  return {
    ...looksOf(output),
    get columns() {
      return output.columns;
    },
    get rows() {
      return output.rows;
    },
    onResize: (listener) => output.onResize?.(listener) ?? (() => {}),
    write: (text) => output.write(cleanForTerminal(text)),
    draw: (text) => output.write(text),
  };
}

/** Writes what we made ourselves: dimmed text, lines that are drawn over. Names in it must be clean. */
export function draw(output: Output, text: string): Promise<void> | void {
  return output.draw ? output.draw(text) : output.write(text);
}

/** What an output can show beyond plain lines, for whoever wraps it. */
export function looksOf({ isTerminal, isStyled, isRedrawn }: Output) {
  return { isTerminal, isStyled, isRedrawn };
}

/** By the variables that people set for all programs: TERM, NO_COLOR, FORCE_COLOR. */
export function toLooks(
  isTerminal: boolean,
  env: Io["env"],
): Pick<Output, "isStyled" | "isRedrawn"> {
  const isAble = isTerminal && env["TERM"] !== "dumb";
  const forced = env["FORCE_COLOR"];
  const isForced = forced !== undefined && forced !== "0" && forced !== "false";
  return { isStyled: isForced || (isAble && !env["NO_COLOR"]), isRedrawn: isAble };
}

/**
 * Whether the terminal breaks its rows again when it becomes narrower, as nearly all do. xterm, GNU screen and the
 * console of Linux cut them off.
 */
export function reflows(env: Io["env"]): boolean {
  if (env["TMUX"]) return true;
  return !env["STY"] && !env["XTERM_VERSION"] && env["TERM"] !== "linux";
}

/** How a piece of a line looks, with what switches it on and off. Colours are the terminal's own sixteen. */
const LOOKS = {
  dim: ["2", "22"],
  bold: ["1", "22"],
  good: ["32", "39"],
  bad: ["31", "39"],
  warn: ["33", "39"],
  busy: ["36", "39"],
} as const;
export type Look = keyof typeof LOOKS;

/** A piece of a line that we draw. Names in it must be clean. */
export interface Span {
  readonly text: string;
  readonly look?: Look | undefined;
}

/** The spans as one text, plain where the output has no styles. */
export function paint(output: Output, spans: readonly Span[]): string {
  const hasStyles = isStyled(output);
  return spans
    .map(({ text, look }) => {
      if (!hasStyles || look === undefined || text === "") return text;
      const [on, off] = LOOKS[look];
      return `\x1b[${on}m${text}\x1b[${off}m`;
    })
    .join("");
}

/** Text that matters less than the answer. */
export function dim(output: Output, text: string): string {
  return paint(output, [{ text, look: "dim" }]);
}

export function isStyled({ isStyled, isTerminal }: Output): boolean {
  return isStyled ?? isTerminal;
}

export function canRedraw({ isRedrawn, isTerminal }: Output): boolean {
  return isRedrawn ?? isTerminal;
}

/** Text that names things, for a line of its own: no line break in a name begins another line. */
export function toOneLine(text: string): string {
  return cleanForTerminal(text).replace(/\n+/g, " ");
}

/** A line for standard error about what was not obeyed. */
export function toWarningLine(text: string): string {
  return `offshoot: ${toOneLine(text)}\n`;
}

export function cleanForTerminal(text: string): string {
  return text.replace(SEQUENCES, "").replace(CONTROLS, "");
}
