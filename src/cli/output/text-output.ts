/**
 * The output for people. Standard output has the answer. Standard error has reasoning, a line for each tool call,
 * what the run waits for, why a model declines, and at the end the run's sources and its cost.
 *
 * A text is the answer only if no tool call follows it in its turn, which is not known while it streams. On a
 * terminal it is shown at once, below a line with the turn's number if other text is above it: the answer is below
 * the last of these lines. A pipe gets only the last turn's text. So with tools, the text of each turn is withheld
 * until the turn is over; earlier text goes to standard error.
 */

import { clip } from "../../base/text.ts";
import { NO_ANSWER } from "../../delegation/envelope.ts";
import { answersIn, isRefusal } from "../../delegation/ledger/call-answers.ts";
import { toCompactionLine } from "../../delegation/ledger/compaction-line.ts";
import { createRunFold } from "../../delegation/ledger/run-figures.ts";
import { isDelegating } from "../../delegation/tools/names.ts";
import type { Annotation } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import type {
  LoggedEvent,
  Notice,
  RunEnd,
  RunEvent,
  RunInput,
  RunStart,
  ToolEnd,
  ToolStart,
} from "../../protocol/run-events.ts";
import type { MarkdownStream } from "../screen/markdown/markdown-stream.ts";
import { canRedraw, cleanForTerminal, dim, isStyled } from "../terminal.ts";
import { textsOf } from "./message-texts.ts";
import { OutputPieces } from "./output-pieces.ts";
import type { Projection, ProjectionOptions } from "./projection.ts";
import { toSummary } from "./run-summary.ts";

const CLEAR_LINE = "\x1b[K";
const DONE_MARKER = "=== [ DONE ] ===";

export function createTextOutput(options: ProjectionOptions): Projection {
  const text = new TextOutput(options);
  return {
    async write(events: readonly LoggedEvent[]) {
      if (text.needsPaint(events)) text.paint ??= await import("./text-paint.ts");
      text.count(events);
      for (const { event } of events) text.read(event);
      await text.flush();
    },
    count: (events) => text.count(events),
    hasToldWhy: () => text.hasToldWhy,
  };
}

/** The code that draws rows and Markdown: loaded for the first of them, which a pipe never has. */
type Paint = typeof import("./text-paint.ts");

/** The stream that wrote the unfinished line with the cursor. */
type Column = "start" | "answer" | "aside";

class TextOutput {
  readonly #options: ProjectionOptions;
  paint: Paint | undefined;
  readonly #pieces: OutputPieces;
  #column: Column = "start";
  /** True if the answer ends with a line break, or is empty. */
  #isAnswerEnded = true;
  #start: RunStart | undefined;
  readonly #fold = createRunFold();
  /** The pages that the answer cites, by their addresses. */
  readonly #sources = new Map<string, string>();
  /** The text of the turn while it is not known if it is the answer. */
  #held = "";
  /** The last withheld text that has gone to standard error: the answer, if the run ends there. */
  #passed = "";
  #isPaused = false;
  /** True if a text of this run is on the terminal. */
  #isTextShown = false;
  /** The turn whose text needs a line before it; undefined once it has one. */
  #turnToMark: number | undefined;
  #isRefused = false;
  /** The text of the turn as Markdown, on a terminal with styles. */
  #markdown: MarkdownStream | undefined;
  /** The part of it on the terminal's last line. */
  #shownRow = "";
  /** The open calls, by their ids: their changes are shown when they end. */
  readonly #calls = new Map<string, ToolStart>();

  constructor(options: ProjectionOptions) {
    this.#options = options;
    this.#pieces = new OutputPieces(options);
  }

  /** True if these cannot be shown without `paint`. */
  needsPaint(events: readonly LoggedEvent[]): boolean {
    if (this.paint) return false;
    return events.some(({ event: { type } }) => {
      if (type === "tool_end") return this.#showsResults;
      return type === "text_delta" && this.#showsMarkdown;
    });
  }

  /** True if the model's own words say why there is no answer. */
  get hasToldWhy(): boolean {
    return this.#isRefused;
  }

  async flush(): Promise<void> {
    await this.#pieces.flush();
  }

  #put(stream: "stdout" | "stderr", text: string): void {
    this.#pieces.add(stream, text);
  }

  /** Adds events to the figures of the run, shown or not. Call it before `read`: `run_end` shows the figures. */
  count(events: readonly LoggedEvent[]): void {
    this.#fold.readAll(events);
  }

  read(event: RunEvent): void {
    switch (event.type) {
      case "run_start":
        this.#start = event;
        return;
      case "turn_start":
        return this.#startTurn(event.turn);
      case "turn_end":
        this.#isPaused = event.reason === "pause";
        return;
      case "text_delta":
        return this.#options.isStructured ? undefined : this.#readText(event.delta);
      case "refusal_delta":
        return this.#writeRefusal(event.delta);
      case "reasoning_delta":
        return this.#writeThought(event.delta);
      case "tool_start":
        return this.#showCall(event);
      case "tool_end":
        return this.#showResult(event);
      case "item_end":
        return this.#showNative(event.item);
      case "annotation":
        return this.#cite(event.annotation);
      case "notice":
        return this.#showNotice(event);
      case "run_input":
        return this.#showInput(event);
      case "compaction":
        return this.#line(toCompactionLine(event));
      case "run_resume":
        // The turn is repeated with its text.
        this.#held = "";
        return this.#line(
          `resumed after a crash (attempt ${event.epoch}); the lines above are from before it`,
        );
      case "run_end":
        return this.#end(event);
      default:
        return;
    }
  }

  #readText(delta: string): void {
    const hasTools = this.#start?.settings.tools.length !== 0;
    if (this.#options.stdout.isTerminal) this.#showText(delta);
    else if (hasTools) this.#held += delta;
    else this.#writeAnswer(delta);
  }

  /** `quiet` does not hide the line with the turn's number: it belongs to the text. */
  #showText(delta: string): void {
    if (delta === "") return;
    if (this.#turnToMark !== undefined) {
      this.#endAside();
      this.#put("stdout", `${dim(this.#options.stdout, `── turn ${this.#turnToMark} ──`)}\n`);
      this.#turnToMark = undefined;
    }
    this.#isTextShown = true;
    if (!this.paint || !this.#showsMarkdown) return this.#writeAnswer(delta);
    this.#endAside();
    this.#markdown ??= this.paint.openMarkdown();
    this.#markdown.push(delta);
    this.#putMarkdown(this.#markdown);
  }

  get #showsMarkdown(): boolean {
    const { stdout } = this.#options;
    return stdout.isTerminal && isStyled(stdout) && canRedraw(stdout);
  }

  /** The open row is shown as it grows, and rewritten if its style changes: it is one row. */
  #putMarkdown(markdown: MarkdownStream): void {
    const { columns } = this.#options.stdout;
    const { rows = [], isOpen = false } = this.paint?.takeRows(markdown, columns) ?? {};
    if (rows.length === 0) return;
    const [first = "", ...rest] = rows;
    const isGrown = first.startsWith(this.#shownRow);
    const begun = isGrown ? first.slice(this.#shownRow.length) : `\r${first}${CLEAR_LINE}`;
    this.#put("stdout", [begun, ...rest].join("\n") + (isOpen ? "" : "\n"));
    this.#shownRow = isOpen ? (rows.at(-1) ?? "") : "";
    this.#isAnswerEnded = !isOpen;
    this.#column = isOpen ? "answer" : "start";
  }

  #endMarkdown(): void {
    const markdown = this.#markdown;
    this.#markdown = undefined;
    markdown?.end();
    if (markdown) this.#putMarkdown(markdown);
  }

  /** A turn that a vendor paused continues with the same text. */
  #startTurn(turn: number): void {
    if (this.#isPaused) return;
    if (this.#isTextShown) this.#turnToMark = turn;
    this.#passHeld();
    this.#passed = "";
    this.#endTurnText();
  }

  /** The withheld text was not the answer: it is shown on standard error. */
  #passHeld(): void {
    if (this.#held === "") return;
    this.#passed = this.#held;
    this.#held = "";
    const { stderr, quiet } = this.#options;
    if (quiet) return;
    this.#endAside();
    const shown = stderr.isTerminal ? cleanForTerminal(this.#passed) : this.#passed;
    this.#put("stderr", `${this.#dim(shown.replace(/\n+$/, ""))}\n`);
  }

  /** An error, so `quiet` does not hide it; it is never part of an answer. */
  #writeRefusal(delta: string): void {
    const { stderr } = this.#options;
    if (delta === "") return;
    this.#isRefused = true;
    this.#endAnswerLine();
    this.#put("stderr", stderr.isTerminal ? cleanForTerminal(delta) : delta);
    this.#column = delta.endsWith("\n") ? "start" : "aside";
  }

  #writeAnswer(delta: string): void {
    const { stdout } = this.#options;
    if (delta === "") return;
    this.#endAside();
    this.#put("stdout", stdout.isTerminal ? cleanForTerminal(delta) : delta);
    this.#isAnswerEnded = delta.endsWith("\n");
    this.#column = this.#isAnswerEnded ? "start" : "answer";
  }

  /** Text before a model's calls and text after them are separate, on a pipe as on a terminal. */
  #endTurnText(): void {
    this.#endMarkdown();
    if (this.#isAnswerEnded) return;
    this.#put("stdout", "\n");
    this.#isAnswerEnded = true;
    this.#column = "start";
  }

  #writeThought(delta: string): void {
    const { quiet, stderr } = this.#options;
    if (quiet || delta === "") return;
    this.#endAnswerLine();
    this.#put("stderr", this.#dim(stderr.isTerminal ? cleanForTerminal(delta) : delta));
    this.#column = delta.endsWith("\n") ? "start" : "aside";
  }

  #showCall(call: ToolStart): void {
    const { name, arguments: text } = call;
    this.#passHeld();
    this.#calls.set(call.call_id, call);
    const isHidden = this.#options.brief || this.#isInTree(name);
    if (!isHidden) this.#line(`${toShown(name)}(${toShown(text)})`);
  }

  #showResult(event: ToolEnd): void {
    const { name, item, failed } = event;
    const call = this.#calls.get(event.call_id);
    this.#calls.delete(event.call_id);
    if (this.#options.brief || item.type !== "function_call_output") return;
    // The tree shows children that were not started, by name.
    if (failed && isDelegating(name) && answersIn(event).some(isRefusal)) return;
    const output = typeof item.output === "string" ? item.output : JSON.stringify(item.output);
    // The tree shows how a child ended. Here the user sees a call that was refused or got no answer.
    const hasRun = output.includes("Subagent execution failed") && !output.includes(NO_ANSWER);
    if (this.#isInTree(name) && (!failed || hasRun)) return;
    if (!failed && this.#showsResults) return this.#showRows(call, event);
    const shown = failed ? toShown(output) : `+${output.length} chars`;
    this.#line(`${toShown(name)} → ${shown}`);
  }

  /** Results are for people; a program that reads standard error gets a line for each call. */
  get #showsResults(): boolean {
    const { stderr, verbose = false } = this.#options;
    return verbose || stderr.isTerminal;
  }

  /** Shows the change of a call as a diff; for other calls a short result. */
  #showRows(call: ToolStart | undefined, event: ToolEnd): void {
    const { verbose = false, stderr, quiet } = this.#options;
    if (quiet || !this.paint) return;
    const painted = this.paint.paintResult(call, event, { verbose, isStyled: isStyled(stderr) });
    this.#endAnswerLine();
    this.#endAside();
    this.#put("stderr", painted);
  }

  #isInTree(name: string): boolean {
    return this.#options.isTreeShown === true && isDelegating(name);
  }

  /** A call that the vendor made itself is shown when it is over. */
  #showNative(item: Item): void {
    if (this.#options.brief) return;
    if (item.type === "web_search_call") {
      const { query, url } = item.action ?? {};
      this.#line(`web_search(${toShown(query || url || "")})`);
    } else if (item.type === "code_interpreter_call") {
      this.#line(`code_interpreter(${toShown(item.code ?? "")})`);
    }
  }

  #cite(annotation: Annotation): void {
    if (annotation.type !== "url_citation" || this.#sources.has(annotation.url)) return;
    this.#sources.set(annotation.url, annotation.title ?? "");
  }

  /** A refused parameter is left out in every turn: the screen shows only the first notice. */
  #showNotice({ code, message }: Notice): void {
    if (code !== "dropped") this.#line(cleanForTerminal(message));
  }

  /** Shows what a person said to the run meanwhile, from here or from another terminal. */
  #showInput({ items }: RunInput): void {
    for (const text of textsOf(items)) this.#line(`message: ${toShown(text)}`);
  }

  #end(event: RunEnd): void {
    this.#endMarkdown();
    const { isStructured, doneMarker } = this.#options;
    if (isStructured && event.ending === "completed") {
      this.#writeAnswer(JSON.stringify(event.output_json));
    }
    this.#writeAnswer(this.#held || (event.ending === "completed" ? "" : this.#passed));
    if (!this.#isAnswerEnded) {
      this.#put("stdout", "\n");
      this.#column = "start";
    }
    this.#endAside();
    if (doneMarker) this.#put("stdout", `\n${DONE_MARKER}\n`);
    for (const [url, title] of this.#sources) {
      this.#line(`source: ${[title, url].filter(Boolean).map(toSource).join(" · ")}`);
    }
    // For a run that failed before it cost anything, only its error is shown.
    const { figures } = this.#fold;
    const isSpent = event.ending !== "failed" || figures.usage.total_tokens > 0;
    if (isSpent) this.#line(toSummary(figures));
  }

  /** Writes a separate line on standard error, dimmed on a terminal. */
  #line(text: string): void {
    if (this.#options.quiet) return;
    this.#endAnswerLine();
    this.#endAside();
    this.#put("stderr", `${this.#dim(text)}\n`);
  }

  /**
   * On a terminal both streams share the lines, so a message must not begin in the middle of one. Only there is the
   * answer's line broken: a pipe gets the answer as it was written.
   */
  #endAnswerLine(): void {
    this.#endMarkdown();
    const { stdout, stderr } = this.#options;
    if (this.#column !== "answer" || !stdout.isTerminal || !stderr.isTerminal) return;
    this.#put("stdout", "\n");
    this.#isAnswerEnded = true;
    this.#column = "start";
  }

  #endAside(): void {
    if (this.#column !== "aside") return;
    this.#put("stderr", "\n");
    this.#column = "start";
  }

  #dim(text: string): string {
    return dim(this.#options.stderr, text);
  }
}

/** Escaped one by one: a sequence in one must not hide the next. Names come from models too. */
function toShown(text: string): string {
  return clip(cleanForTerminal(text), 100);
}

/** A shortened address would be useless. */
function toSource(text: string): string {
  return clip(cleanForTerminal(text), 500);
}
