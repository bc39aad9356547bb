/**
 * Questions to the person, on the terminal itself: not on standard input, which may be a file, and not
 * on standard output, which may be a pipe. One at a time.
 *
 * What a model wrote is shown escaped, each argument on its own indented line, so that it cannot draw
 * a question or an answer of its own; and what was typed before the question is thrown away.
 */

import { isJsonObject, tryParseJson } from "../base/json.ts";
import { ANSWERS, type Answer, type Ask, type Question } from "../tools/gate/ask.ts";
import type { Io, Terminal } from "./io.ts";

/** Undefined when there is no terminal. */
export function createAskOnTerminal(io: Pick<Io, "openTerminal">): Ask | undefined {
  const terminal = io.openTerminal();
  if (!terminal) return undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (question, signal) => {
    const answer = last.then(() => askOn(terminal, question, signal));
    last = answer.catch(() => {});
    return answer;
  };
}

async function askOn(terminal: Terminal, question: Question, signal: AbortSignal): Promise<Answer> {
  let shown = renderQuestion(question);
  for (;;) {
    const line = await terminal.ask(`${shown}${CHOICES}`, signal);
    // The end of the input: whoever was there has left.
    if (line === undefined) return "cancel";
    const word = line.trim().toLowerCase();
    const answer = ANSWERS.find((one) => word !== "" && one.startsWith(word));
    if (answer) return answer;
    shown = "";
  }
}

const CHOICES = "Approve this tool call? [Y]es [N]o [A]lways [C]ancel: ";

export function renderQuestion({ tool, arguments: text, reason, sandbox }: Question): string {
  const parsed = tryParseJson(text);
  const lines = isJsonObject(parsed)
    ? Object.entries(parsed).map(([name, value]) => `  ${toEscaped(name)}: ${toEscaped(value)}`)
    : [`  ${toEscaped(text)}`];
  const why = `  why: ${escapeText(reason)} (sandbox: ${sandbox})`;
  return `\nTool Call: ${escapeText(tool)}\n${[...lines, why].join("\n")}\n`;
}

/** As long as it is read; the middle of more is counted, never the end hidden. */
const SHOWN_CHARS = 4000;

function toEscaped(value: unknown): string {
  const text = escapeText(JSON.stringify(value) ?? "");
  if (text.length <= SHOWN_CHARS) return text;
  const half = SHOWN_CHARS / 2;
  const hidden = text.length - SHOWN_CHARS;
  return `${text.slice(0, half)} [… ${hidden} characters are not shown …] ${text.slice(-half)}`;
}

/** Nothing but what is printed and stays in its line: no controls, no marks that turn the direction. */
function escapeText(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu,
    (mark) => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
