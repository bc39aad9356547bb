/**
 * Asks the person on the terminal itself: not on standard input, which may be a file, and not on standard output,
 * which may be a pipe. One question at a time.
 *
 * Text that a model wrote is shown escaped, each argument on its own indented line, so that it cannot imitate a
 * question or an answer. Keys typed before the question are thrown away.
 */

import { setImmediate as nextRound } from "node:timers/promises";
import { throwIfAborted, toAbortFailure } from "../base/async.ts";
import { isJsonObject, tryParseJson } from "../base/json.ts";
import { clip, hideMiddle } from "../base/text.ts";
import {
  ANSWERS,
  type Answer,
  type Ask,
  type Asker,
  type Denial,
  type Question,
  toDenial,
} from "../tools/gate/ask.ts";
import type { Io, Terminal } from "./io.ts";
import type { LiveBlock } from "./output/live-block.ts";

export interface TerminalAsk {
  readonly ask: Ask;
  /**
   * Resolves when no question is on the screen: output in the meantime would follow the question.
   */
  quiet(): Promise<void>;
}

/**
 * Undefined without a terminal. `live`: what is drawn on it and must be removed for a question.
 */
export function createAskOnTerminal(
  io: Pick<Io, "openTerminal">,
  live?: LiveBlock,
): TerminalAsk | undefined {
  const terminal = io.openTerminal();
  if (!terminal) return undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isCancelled = false;

  async function askNext(question: Question, signal: AbortSignal): Promise<Answer | Denial> {
    throwIfAborted(signal);
    const release = live?.hold();
    try {
      // A person who ends the run has answered its other questions too.
      const answer = isCancelled ? "cancel" : await askOn(terminal as Terminal, question, signal);
      isCancelled ||= answer === "cancel";
      return answer;
    } finally {
      release?.();
    }
  }

  return {
    ask(question, signal) {
      const answer = last.then(() => askNext(question, signal));
      // An answer for the whole tree settles the next question before it is shown.
      last = answer.then(nextRound, nextRound);
      return answer;
    },
    async quiet() {
      await last;
    },
  };
}

async function askOn(
  terminal: Terminal,
  question: Question,
  signal: AbortSignal,
): Promise<Answer | Denial> {
  let shown = renderQuestion(question, terminal.columns);
  const { choices, keys } = question.child ? OF_CHILD : OF_ROOT;
  for (;;) {
    const line = await readAnswer(terminal, `${shown}${choices}`, { question, signal });
    // The end of the input: the person has left.
    if (line === undefined) return "cancel";
    const answer = readAnswerLine(line.trim());
    if (answer) return answer;
    shown = `Type ${keys}, then Enter.\n`;
  }
}

/** After a no there may be a message for the model: `n, use the test folder`. */
export function readAnswerLine(line: string): Answer | Denial | undefined {
  const [, reason] = /^no?(?:\s*[,:;]|\s)[\s-]*(.*)$/is.exec(line) ?? [];
  if (reason !== undefined) return toDenial(reason);
  const word = line.toLowerCase().replace(/[,:;]$/, "");
  return ANSWERS.find((one) => word !== "" && one.startsWith(word));
}

interface Asking {
  readonly question: Question;
  readonly signal: AbortSignal;
}

/** A withdrawn question says so, and ends its line for the next output. */
async function readAnswer(
  terminal: Terminal,
  prompt: string,
  { question: { child }, signal }: Asking,
): Promise<string | undefined> {
  try {
    return await terminal.ask(prompt, signal);
  } catch (thrown) {
    if (signal.aborted) {
      const who = child ? `${clip(escapeText(child.label), 80)}: ` : "";
      const why = escapeText(toAbortFailure(signal).message);
      terminal.show(`\nno longer needed: ${who}${why}\n`);
    }
    throw thrown;
  }
}

const OF_ROOT = {
  choices: "Approve this tool call? [Y]es [N]o (or N and why) [A]lways [C]ancel the whole run: ",
  keys: "y, n (or n and why), a or c",
};

/** `always` is for the subagent that asks. */
const OF_CHILD = {
  choices:
    "Approve this tool call? [Y]es [N]o (or N and why) [A]lways for this subagent [T]ree: always for all [C]ancel the whole run: ",
  keys: "y, n (or n and why), a, t or c",
};

type ShownQuestion = Omit<Question, "id" | "effect" | "waitMs" | "asksEveryTime">;

export function renderQuestion(question: ShownQuestion, columns = 80): string {
  const { tool, always, child } = question;
  const meant = always.length > 0 ? always.map(escapeText).join(", ") : "this very call";
  const shown = [...toQuestionLines(question), `always${child ? "" : ", in this run"}: ${meant}`]
    .map((line) => indent(line, columns))
    .join("\n");
  return `\nTool Call: ${escapeText(tool)}\n${shown}\n`;
}

/** Who asks, each argument, and the reason: one line each, all escaped. */
export function toQuestionLines({
  child,
  arguments: text,
  reason,
  sandbox,
}: Omit<ShownQuestion, "tool" | "always">): string[] {
  const parsed = tryParseJson(text);
  const lines = isJsonObject(parsed)
    ? Object.entries(parsed).map(([name, value]) => `${toEscaped(name)}: ${toEscaped(value)}`)
    : [toEscaped(text)];
  const why = `why: ${escapeText(reason)} (sandbox: ${sandbox})`;
  return [...(child ? describe(child) : []), ...lines, why];
}

function describe({ label, agent, path, depth, task }: Asker): string[] {
  const named = agent === null ? "" : `agent ${agent}, `;
  const place = `(${named}${path}, depth ${depth})`;
  return [`subagent: ${toEscaped(label)} ${escapeText(place)}`, `its task: ${toEscaped(task)}`];
}

/**
 * Lines are broken here: a terminal would begin the rest of a long line in the column of our own lines.
 */
function indent(line: string, columns: number): string {
  const width = Math.max(columns - 6, 20);
  const pieces = line.match(new RegExp(`.{1,${width}}`, "gsu")) ?? [""];
  return pieces.map((piece, at) => `${at === 0 ? "  " : "    "}${piece}`).join("\n");
}

/** About as much as people read. */
const SHOWN_CHARS = 4000;

function toEscaped(value: unknown): string {
  return hideMiddle(escapeText(JSON.stringify(value) ?? ""), SHOWN_CHARS);
}

/**
 * Keeps only what prints and stays in its line: no control characters, no marks that change the direction.
 */
export function escapeText(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu,
    (mark) => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
