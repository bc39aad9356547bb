/**
 * The log of a run as a chat shows it: finished parts once, and what is at work now. The answer is Markdown as it
 * streams. A call is printed when it has ended, with its change or its result. A subagent is a live line while it
 * works, and a printed line when it has ended.
 */

import { clip, plural, withThousands } from "../../base/text.ts";
import { toCompactionLine } from "../../delegation/ledger/compaction-line.ts";
import { createTreeTotals } from "../../delegation/ledger/tree-totals.ts";
import { isDelegating } from "../../delegation/tools/names.ts";
import type {
  LoggedEvent,
  Notice,
  RunEnd,
  RunEvent,
  ToolEnd,
  ToolStart,
} from "../../protocol/run-events.ts";
import { toElapsed, toPartialMoney } from "../output/amounts.ts";
import type { NodeNews } from "../output/live-node.ts";
import { createLiveTree, type LiveTree } from "../output/live-tree.ts";
import { textsOf } from "../output/message-texts.ts";
import { toSummary } from "../output/run-summary.ts";
import { toCallRow, toDiffRows, toFileChange, toResultRows } from "../output/tool-rows.ts";
import { SIGNS } from "../output/tree-line.ts";
import type { FinishedLine } from "../screen/frame.ts";
import {
  createMarkdownStream,
  type MarkdownRoom,
  type MarkdownStream,
} from "../screen/markdown/markdown-stream.ts";
import { joinPens, PEN, plainRow, type Row, wrapPieces } from "../screen/rows.ts";
import { cleanForTerminal } from "../terminal.ts";
import { toChildRows } from "./child-rows.ts";

export interface TranscriptRows {
  readonly finished: readonly FinishedLine[];
  /** The unfinished part of the answer. */
  readonly open: readonly Row[];
}

export interface TranscriptOptions {
  readonly now: () => number;
  /** True to show the complete output of tools. */
  readonly isVerbose: boolean;
  /** Called with the words of a person that the run has read. */
  readonly onHeard: (text: string) => void;
  /** True if an ended call was shown with its diff in its question. Asked once for each call. */
  readonly takeShown: (call: ToolStart) => boolean;
}

/** Makes lines for the width that the terminal has when they are printed. */
type MakeLines = (room: MarkdownRoom) => FinishedLine[];

export class Transcript {
  readonly tree: LiveTree;
  readonly #totals = createTreeTotals();
  readonly #options: TranscriptOptions;
  #text: MarkdownStream | undefined;
  #thought: MarkdownStream | undefined;
  readonly #lines: MakeLines[] = [];
  readonly #calls = new Map<string, ToolStart>();
  #rootId: string | undefined;

  constructor(options: TranscriptOptions) {
    this.#options = options;
    this.tree = createLiveTree(options.now, this.#totals);
  }

  read(logged: LoggedEvent): void {
    this.#rootId ??= logged.run_id;
    this.#totals.read(logged);
    const news = this.tree.read(logged);
    if (news) this.#tell(news);
    if (logged.run_id === this.#rootId) this.#readRoot(logged.event);
  }

  take(room: MarkdownRoom): TranscriptRows {
    const finished: FinishedLine[] = [];
    for (const make of this.#lines.splice(0)) finished.push(...make(room));
    const thought = this.#thought?.take(room);
    const text = this.#text?.take(room);
    finished.push(...dimmed(thought?.finished ?? []), ...(text?.finished ?? []));
    const open = text?.open ?? thought?.open.map((row) => dimRow(row)) ?? [];
    return { finished, open };
  }

  /** One row for what the root waits for, and its children. */
  toActivity(columns: number, maxRows: number): Row[] {
    const { root } = this.tree;
    if (!root) return [];
    const calls = [...this.#calls.values()].filter(({ name }) => !isDelegating(name));
    const [call] = calls;
    const more = calls.length > 1 ? ` and ${calls.length - 1} more` : "";
    const does = call
      ? [...toCallRow(call), { text: more, pen: PEN.dim }]
      : plainRow(toDoing(root.figures.last_action));
    const elapsed = toElapsed(this.#options.now() - root.startedAtMs);
    const head: Row = [...does, { text: ` · ${elapsed}`, pen: PEN.dim }];
    return [
      head,
      ...toChildRows(this.tree, { columns, maxRows: maxRows - 1, nowMs: this.#options.now() }),
    ];
  }

  #readRoot(event: RunEvent): void {
    switch (event.type) {
      case "text_delta":
      case "refusal_delta":
        this.#endThought();
        this.#text ??= createMarkdownStream();
        return this.#text.push(event.delta);
      case "reasoning_delta":
        this.#thought ??= createMarkdownStream();
        return this.#thought.push(event.delta);
      case "turn_end":
      case "turn_start":
        return this.#endText();
      case "tool_start":
        this.#endText();
        this.#calls.set(event.call_id, event);
        return;
      case "tool_end":
        return this.#endCall(event);
      case "run_input":
        this.#endText();
        for (const text of textsOf(event.items)) this.#options.onHeard(text);
        return;
      case "compaction":
        return this.say(toCompactionLine(event));
      case "notice":
        return this.#showNotice(event);
      case "run_resume":
        this.#text = undefined;
        this.#thought = undefined;
        return this.say(`resumed after a crash (attempt ${event.epoch})`);
      case "run_end":
        return this.#end(event);
      default:
        return;
    }
  }

  /** Prints a dim line of ours. */
  say(text: string, pen: string = PEN.dim): void {
    this.#put(({ columns }) => wrapLine(cleanForTerminal(text), pen, columns));
  }

  #put(make: MakeLines): void {
    this.#endText();
    this.#lines.push(make);
  }

  #endThought(): void {
    if (!this.#thought) return;
    this.#keep(this.#thought, PEN.dim);
    this.#thought = undefined;
  }

  #endText(): void {
    this.#endThought();
    if (!this.#text) return;
    this.#keep(this.#text, "");
    this.#text = undefined;
  }

  /** Prints the rest of a stream that has ended before the next output. */
  #keep(stream: MarkdownStream, pen: string): void {
    stream.end();
    this.#lines.push((room) => {
      const { finished } = stream.take(room);
      return pen === "" ? [...finished] : dimmed(finished);
    });
  }

  #endCall(event: ToolEnd): void {
    const call = this.#calls.get(event.call_id);
    this.#calls.delete(event.call_id);
    if (!call || isDelegating(call.name)) return;
    const rows = this.#toEndRows(call, event);
    const sign = event.failed ? { text: "✗ ", pen: PEN.bad } : { text: "● ", pen: PEN.good };
    this.#put(() => [
      { row: [sign, ...toCallRow(call)], isLong: true },
      ...rows.map(
        (row): FinishedLine => ({ row: [{ text: "  ", pen: "" }, ...row], isLong: true }),
      ),
    ]);
  }

  /** Shows the change of a call if it was not shown yet, or its result. */
  #toEndRows(call: ToolStart, event: ToolEnd): Row[] {
    const { isVerbose, takeShown } = this.#options;
    const wasShown = takeShown(call);
    const change = event.failed ? undefined : toFileChange(call);
    if (!change) return toResultRows(event, isVerbose);
    if (wasShown) return [];
    return toDiffRows(change, isVerbose ? Number.POSITIVE_INFINITY : undefined).slice(1);
  }

  #showNotice({ code, message }: Notice): void {
    if (code !== "dropped") this.say(message);
  }

  #tell(news: NodeNews): void {
    if (news.type === "refused") {
      for (const { label, why } of news.children)
        this.say(`– ${label}: not started: ${clip(why, 200)}`);
    }
    if (news.type !== "ended") return;
    const { node, end } = news;
    if (!node.parent) return;
    const { sign, look } = SIGNS[end.ending];
    const { turns, usage, known_usd, unknown_calls } = end.figures;
    const why =
      end.ending === "completed" || end.message === "" ? "" : ` · ${clip(end.message, 200)}`;
    const money = toPartialMoney(known_usd, unknown_calls, usage.total_tokens);
    const figures = `${plural(turns, "turn")} · ${withThousands(usage.total_tokens)} tokens · ${money}`;
    const said = cleanForTerminal(`: ${end.ending}${why} · ${figures}`).replaceAll("\n", " ");
    const pen = look === "good" ? PEN.good : look === "bad" ? PEN.bad : PEN.warn;
    const row: Row = [
      { text: `${sign} `, pen },
      { text: cleanForTerminal(node.label).replaceAll("\n", " "), pen: "" },
      { text: said, pen: PEN.dim },
    ];
    this.#put(({ columns }) =>
      wrapPieces(row, { columns: columns - 1 }).map((one) => ({ row: one.row })),
    );
  }

  #end(event: RunEnd): void {
    this.#endText();
    const figures = this.tree.root?.figures;
    if (event.ending !== "completed") {
      const [words, pen] = toEndWords(event);
      this.say(words, pen);
    }
    if (figures && (event.ending !== "failed" || figures.usage.total_tokens > 0))
      this.say(toSummary(figures));
    this.#lines.push(() => [{ row: [] }]);
  }
}

/** The model's own words above say why it declines. */
function toEndWords({ ending, message }: RunEnd): [words: string, pen: string] {
  if (ending === "cancelled") return ["Stopped.", PEN.warn];
  if (ending === "refused") return ["The model declined to answer.", PEN.bad];
  return [`${ending}: ${message}`, PEN.bad];
}

/** The figures of a run, or what it does before its first event. */
function toDoing(action: string): string {
  return action === "" ? "starting" : clip(cleanForTerminal(action).replaceAll("\n", " "), 80);
}

export function wrapLine(text: string, pen: string, columns: number): FinishedLine[] {
  return text
    .split("\n")
    .flatMap((line) => wrapPieces(plainRow(line, pen), { columns: columns - 1 }))
    .map(({ row }) => ({ row }));
}

function dimRow(row: Row): Row {
  return row.map(({ text, pen }) => ({ text, pen: joinPens(PEN.dim, pen) }));
}

function dimmed(lines: readonly FinishedLine[]): FinishedLine[] {
  return lines.map((line) => ({ ...line, row: dimRow(line.row) }));
}
