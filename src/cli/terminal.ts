/**
 * Makes text of others safe for a terminal: no escape sequence, control character or direction override in it reaches
 * the terminal. For terminals only: files and pipes get the text unchanged.
 *
 * Every output of the process passes `createSafeOutput`, so code that prints the name of a file, an agent, a server
 * or a key needs no care. Only what is drawn by `draw` keeps its sequences.
 */

import { withoutControls } from "../base/terminal-controls.ts";
import type { Io, Output } from "./io.ts";

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

/** Writes text with our own sequences: dimmed text, redrawn lines. Names in it must be clean. */
export function draw(output: Output, text: string): Promise<void> | void {
  return output.draw ? output.draw(text) : output.write(text);
}

/** The abilities of an output beyond plain lines, for code that wraps it. */
export function looksOf({ isTerminal, isStyled, isRedrawn }: Output) {
  return { isTerminal, isStyled, isRedrawn };
}

/** Reads the variables that people set for all programs: TERM, NO_COLOR, FORCE_COLOR. */
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
 * True if the terminal breaks its rows again when it becomes narrower, as nearly all do. xterm, GNU screen and the
 * console of Linux cut them off.
 */
export function reflows(env: Io["env"]): boolean {
  if (env["TMUX"]) return true;
  return !env["STY"] && !env["XTERM_VERSION"] && env["TERM"] !== "linux";
}

/**
 * The styles of a piece of a line, with the sequences that switch each on and off. Colours are the terminal's own
 * sixteen.
 */
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
export interface StyledSpan {
  readonly text: string;
  readonly look?: Look | undefined;
}

/** The spans as one text; plain if the output has no styles. */
export function paint(output: Output, spans: readonly StyledSpan[]): string {
  const hasStyles = isStyled(output);
  return spans
    .map(({ text, look }) => {
      if (!hasStyles || look === undefined || text === "") return text;
      const [on, off] = LOOKS[look];
      return `\x1b[${on}m${text}\x1b[${off}m`;
    })
    .join("");
}

/** Text that is less important than the answer. */
export function dim(output: Output, text: string): string {
  return paint(output, [{ text, look: "dim" }]);
}

export function isStyled({ isStyled, isTerminal }: Output): boolean {
  return isStyled ?? isTerminal;
}

export function canRedraw({ isRedrawn, isTerminal }: Output): boolean {
  return isRedrawn ?? isTerminal;
}

/** A name on a line of its own: a line break in it must not begin another line. */
export function toOneLine(text: string): string {
  return cleanForTerminal(text).replace(/\n+/g, " ");
}

/** A line for standard error about something that was ignored. */
export function toWarningLine(text: string): string {
  return `offshoot: ${toOneLine(text)}\n`;
}

export function cleanForTerminal(text: string): string {
  return withoutControls(text);
}
