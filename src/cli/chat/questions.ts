/**
 * Questions about tool calls in a chat, one at a time. The change is printed as a diff before the question. An answer
 * is a line of its own, ended by Enter, so that words that the person was writing approve nothing.
 */

import { throwIfAborted } from "../../base/async.ts";
import type { ToolStart } from "../../protocol/run-events.ts";
import type { Answer, Ask, Denial, Question } from "../../tools/gate/ask.ts";
import { escapeText, readAnswerLine, toQuestionLines } from "../ask-on-terminal.ts";
import { type ShownFileChange, toDiffRows } from "../output/tool-rows.ts";
import type { FinishedLine } from "../screen/frame.ts";
import { PEN, plainRow, type Row, wrapPieces } from "../screen/rows.ts";
import { Editor } from "./editor/editor.ts";

/** More lines of a change than a person reads before a yes; the rest is counted. */
const MAX_DIFF = 400;

export interface QuestionParts {
  readChange(call: Pick<ToolStart, "name" | "arguments">): Promise<ShownFileChange | undefined>;
  columns(): number;
  print(lines: readonly FinishedLine[]): void;
  /** Called when a question appears or goes. */
  onChange(isAsked: boolean): void;
}

interface OpenQuestion {
  readonly question: Question;
  readonly editor: Editor;
  settle(answer: Answer | Denial): void;
}

export class Questions {
  readonly #parts: QuestionParts;
  #last: Promise<unknown> = Promise.resolve();
  #open: OpenQuestion | undefined;
  /** Calls whose change was shown, and that have not ended. */
  readonly #shown = new Set<string>();
  #hint = "";

  constructor(parts: QuestionParts) {
    this.#parts = parts;
  }

  readonly ask: Ask = (question, signal) => {
    const answer = this.#last.then(() => this.#askNext(question, signal));
    this.#last = answer.then(
      () => {},
      () => {},
    );
    return answer;
  };

  /** The editor for the answer; undefined while no question is open. */
  get editor(): Editor | undefined {
    return this.#open?.editor;
  }

  /**
   * Returns true once for each call that was shown with its change: the same call later is another one.
   */
  takeShown({ name, arguments: text }: Pick<ToolStart, "name" | "arguments">): boolean {
    return this.#shown.delete(`${name} ${text}`);
  }

  toRows(columns: number): Row[] {
    const { question } = this.#open ?? {};
    if (!question) return [];
    const keys = question.child
      ? "[y]es  [n]o, or n and why  [a]lways for this subagent  [t]ree: always for all  [c]ancel the run"
      : "[y]es  [n]o, or n and why  [a]lways  [c]ancel the run";
    const meant =
      question.always.length > 0 ? question.always.map(escapeText).join(", ") : "this very call";
    const asked = this.#hint === "" ? `Approve ${escapeText(question.tool)}?` : this.#hint;
    const rows = [plainRow(asked, PEN.warn), plainRow(`${keys} · always: ${meant}`, PEN.dim)];
    return rows.flatMap((row) => wrapPieces(row, { columns: columns - 1 }).map((one) => one.row));
  }

  /** Called for Enter. Returns words that are not an answer: they were meant for the model. */
  submit(): string {
    const open = this.#open;
    if (!open) return "";
    const line = open.editor.whole.trim();
    const answer = readAnswerLine(line);
    if (answer) {
      open.settle(answer);
      return "";
    }
    open.editor.replace("");
    this.#hint = "Answer first: y, n (or n and why), a or c, then Enter.";
    return line;
  }

  cancel(): void {
    this.#open?.settle("cancel");
  }

  async #askNext(question: Question, signal: AbortSignal): Promise<Answer | Denial> {
    throwIfAborted(signal);
    const call = { name: question.tool, arguments: question.arguments };
    const change = await this.#parts.readChange(call);
    throwIfAborted(signal);
    this.#show(question, change);
    return await new Promise((resolve, reject) => {
      const end = (): void => {
        signal.removeEventListener("abort", abort);
        this.#open = undefined;
        this.#hint = "";
        this.#parts.onChange(false);
      };
      const abort = (): void => {
        end();
        try {
          throwIfAborted(signal);
        } catch (thrown) {
          reject(thrown);
        }
      };
      signal.addEventListener("abort", abort, { once: true });
      const settle = (answer: Answer | Denial): void => {
        end();
        resolve(answer);
      };
      this.#open = { question, editor: new Editor(), settle };
      this.#parts.onChange(true);
    });
  }

  /** Text of a model is shown escaped, or as a diff with every line cleaned. */
  #show(question: Question, change: ShownFileChange | undefined): void {
    this.#shown.add(`${question.tool} ${question.arguments}`);
    const given = change ? "{}" : question.arguments;
    const lines = toQuestionLines({ ...question, arguments: given });
    const told = lines.map((line) => plainRow(line, PEN.dim));
    const diff = change ? toDiffRows(change, MAX_DIFF) : [];
    const columns = this.#parts.columns();
    const title = plainRow(`Tool Call: ${escapeText(question.tool)}`, PEN.bold);
    const rows = [...told, ...diff].flatMap((row) => indent(row, columns));
    this.#parts.print([{ row: title }, ...rows]);
  }
}

/**
 * Lines are broken here: a terminal would begin the rest of a long line in the column of our own lines.
 */
function indent(row: Row, columns: number): FinishedLine[] {
  const first = plainRow("  ");
  const wrapping = { columns: columns - 1, hanging: plainRow("    "), taken: 2 };
  const [head, ...rest] = wrapPieces(row, wrapping).map((one) => one.row);
  return [[...first, ...(head ?? [])], ...rest].map((one): FinishedLine => ({ row: one }));
}
