/**
 * The form for people: the answer on standard output; reasoning, a line a tool call, what the run waits
 * for, why a model declines, and at the end the run's sources and its cost, on standard error.
 *
 * A text is the answer only when no tool call follows it in its turn, which nobody knows while it comes. On a
 * terminal it is shown as it comes, below a line with the turn's number where another text is above it: the
 * answer is what stands below the last of these lines. A pipe gets the last turn's text alone, so with tools
 * each turn's text is held until the turn is over; what came before goes to standard error.
 */

import { toTextPieces } from "../../base/json-pieces.ts";
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
import { canRedraw, cleanForTerminal, dim, draw, isStyled } from "../terminal.ts";
import { textsOf } from "./message-texts.ts";
import type { Projection, ProjectionOptions } from "./output.ts";
import { toSummary } from "./run-summary.ts";

const CLEAR_LINE = "\x1b[K";
const DONE_MARKER = "=== [ DONE ] ===";

export function createTextOutput(options: ProjectionOptions): Projection {
  const text = new TextOutput(options);
  return {
    async write(events: readonly LoggedEvent[]) {
      if (text.needsPaint(events)) text.paint ??= await import("./text-paint.ts");
      for (const { event } of events) text.read(event);
      await text.flush();
    },
    count(events) {
      for (const { event } of events) text.count(event);
    },
    hasToldWhy: () => text.hasToldWhy,
  };
}

/** What draws rows and Markdown: loaded with the first of them, which a pipe never has. */
type Paint = typeof import("./text-paint.ts");

/** Which stream the cursor stands in the middle of a line of. */
type Column = "start" | "answer" | "aside";

class TextOutput {
  readonly #options: ProjectionOptions;
  paint: Paint | undefined;
  /** What is still to be written, in order: on a terminal both streams share the screen. */
  #pieces: { stream: "stdout" | "stderr"; text: string }[] = [];
  #column: Column = "start";
  /** Whether the answer ends with a line break, or is empty. */
  #isAnswerEnded = true;
  #start: RunStart | undefined;
  readonly #fold = createRunFold();
  /** The pages that the answer cites, by their addresses. */
  readonly #sources = new Map<string, string>();
  /** The text of the turn, where it is not known yet whether it is the answer. */
  #held = "";
  /** What was held last and has gone to standard error: the answer of a run that ends there. */
  #passed = "";
  #isPaused = false;
  /** Whether a text of this run is on the terminal. */
  #isTextShown = false;
  /** The turn whose text is to be set apart from what is above it; undefined once it is. */
  #turnToMark: number | undefined;
  #isRefused = false;
  /** The text of the turn as Markdown, on a terminal that has styles. */
  #markdown: MarkdownStream | undefined;
  /** What the terminal's last line shows of it. */
  #shownRow = "";
  /** The calls under way, by their ids: what they change is told with their ends. */
  readonly #calls = new Map<string, ToolStart>();

  constructor(options: ProjectionOptions) {
    this.#options = options;
  }

  /** Whether these cannot be read without `paint`. */
  needsPaint(events: readonly LoggedEvent[]): boolean {
    if (this.paint) return false;
    return events.some(({ event: { type } }) => {
      if (type === "tool_end") return this.#showsResults;
      return type === "text_delta" && this.#showsMarkdown;
    });
  }

  /** Whether the model's own words say why there is no answer. */
  get hasToldWhy(): boolean {
    return this.#isRefused;
  }

  /** One write for each run of pieces of one stream: mostly one a batch. */
  async flush(): Promise<void> {
    const pieces = this.#pieces;
    this.#pieces = [];
    for (const { stream, text } of pieces) {
      // A pipe holds a copy of what it was given and nobody has read.
      for (const piece of toTextPieces(text)) await draw(this.#options[stream], piece);
    }
  }

  #put(stream: "stdout" | "stderr", text: string): void {
    const last = this.#pieces.at(-1);
    if (last?.stream === stream) last.text += text;
    else this.#pieces.push({ stream, text });
  }

  /** Counts what is not shown. */
  count(event: RunEvent): void {
    this.#fold.read(event);
  }

  read(event: RunEvent): void {
    this.#fold.read(event);
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
        // What the turn had said is said again.
        this.#held = "";
        return this.#line(`went on after a cut, as owner ${event.epoch}`);
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

  /** `quiet` does not leave the line out: it belongs to the text. */
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

  /** The row that is still open is shown as it comes, and written over where its looks change: it is one row. */
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

  /** A turn that a vendor paused goes on with the same text. */
  #startTurn(turn: number): void {
    if (this.#isPaused) return;
    if (this.#isTextShown) this.#turnToMark = turn;
    this.#passHeld();
    this.#passed = "";
    this.#endTurnText();
  }

  /** What is held was no answer: it is shown apart. */
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

  /** An error, so `quiet` does not hide it; never part of an answer. */
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

  /** What a model says before its calls and after them is two texts, on a pipe as on a terminal. */
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
    // Who was not started is told with the tree, by name.
    if (failed && isDelegating(name) && answersIn(event).some(isRefusal)) return;
    const output = typeof item.output === "string" ? item.output : JSON.stringify(item.output);
    // How a child ended is said in the tree; a call that was refused, or got no answer, is said here.
    const hasRun = output.includes("Subagent execution failed") && !output.includes(NO_ANSWER);
    if (this.#isInTree(name) && (!failed || hasRun)) return;
    if (!failed && this.#showsResults) return this.#showRows(call, event);
    const shown = failed ? toShown(output) : `+${output.length} chars`;
    this.#line(`${toShown(name)} → ${shown}`);
  }

  /** For people; a program that reads standard error finds a line for each call. */
  get #showsResults(): boolean {
    const { stderr, verbose = false } = this.#options;
    return verbose || stderr.isTerminal;
  }

  /** What a call has changed, as a diff; of any other what came of it, in short. */
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

  /** A call that the vendor made itself: it is told when it is over. */
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

  /** A parameter that a model refuses is left out in every turn: the record says so, not the screen. */
  #showNotice({ code, message }: Notice): void {
    if (code !== "dropped") this.#line(cleanForTerminal(message));
  }

  /** What somebody said to the run meanwhile, from here or from another terminal. */
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
    // A run that failed before it cost anything has its error to show, and nothing else.
    const { figures } = this.#fold;
    const isSpent = event.ending !== "failed" || figures.usage.total_tokens > 0;
    if (isSpent) this.#line(toSummary(figures));
  }

  /** A line of its own on standard error, dimmed on a terminal. */
  #line(text: string): void {
    if (this.#options.quiet) return;
    this.#endAnswerLine();
    this.#endAside();
    this.#put("stderr", `${this.#dim(text)}\n`);
  }

  /**
   * On a terminal both streams share the lines, so an aside must not begin in the middle of one.
   * Only there is the answer's line broken: a pipe gets the answer as it was written.
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

/** Each by itself: an escape in one may hide nothing of the next. Names come from models too. */
function toShown(text: string): string {
  return clip(cleanForTerminal(text), 100);
}

/** An address is of use only whole. */
function toSource(text: string): string {
  return clip(cleanForTerminal(text), 500);
}
