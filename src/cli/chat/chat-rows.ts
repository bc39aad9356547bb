/**
 * Rows of a chat besides its transcript: what is at work, with a moving sign and its time; the words that wait; and a
 * person's words, as lines that stay. Pure.
 */

import { withThousands } from "../../base/text.ts";
import type { FinishedLine } from "../screen/frame.ts";
import { PEN, type Row } from "../screen/rows.ts";
import { cleanForTerminal } from "../terminal.ts";
import { type ChatWork, TICK_MS } from "./chat-work.ts";
import { MARGIN, PROMPT } from "./prompt-field.ts";
import { wrapLine } from "./transcript.ts";

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

interface ActivityRoom {
  readonly columns: number;
  readonly maxRows: number;
  readonly nowMs: number;
}

export function toActivityRows(
  { turn, deed }: Pick<ChatWork, "turn" | "deed">,
  { columns, maxRows, nowMs }: ActivityRoom,
): Row[] {
  const sign = { text: `${SPINNER[Math.floor(nowMs / TICK_MS) % SPINNER.length]} `, pen: PEN.busy };
  if (deed) {
    const seconds = Math.floor((nowMs - deed.startedAtMs) / 1000);
    return [[sign, { text: deed.title, pen: "" }, { text: ` · ${seconds} s`, pen: PEN.dim }]];
  }
  if (!turn) return [];
  const [head = [], ...children] = turn.transcript.toActivity(columns, Math.max(1, maxRows));
  const stopping = turn.isStopping ? [{ text: " · stopping", pen: PEN.warn }] : [];
  return [[sign, ...head, ...stopping], ...children];
}

export function toWaitingRows({ steered, queued }: Pick<ChatWork, "steered" | "queued">): Row[] {
  return [
    ...steered.map((text) => toLine("steering:", text)),
    ...queued.map((text) => toLine("queued:", text)),
  ];
}

function toLine(sign: string, text: string): Row {
  return [
    { text: `${sign} `, pen: PEN.warn },
    { text: cleanForTerminal(text).replaceAll("\n", " ⏎ "), pen: PEN.dim },
  ];
}

/** As much as the editor shows of a paste before it folds it. */
const MAX_LINES = 20;
const MAX_CHARS = 4000;

/** All of a short text, otherwise its beginning and its length. */
export function toSaidLines(words: string, columns: number, pen: string): FinishedLine[] {
  const shown = cleanForTerminal(shorten(words));
  const [first, ...rest] = wrapLine(shown, pen, columns - 2);
  return [
    { row: [...PROMPT, ...(first?.row ?? [])] },
    ...rest.map(({ row }): FinishedLine => ({ row: [...MARGIN, ...row] })),
  ];
}

function shorten(words: string): string {
  const lines = words.split("\n");
  if (lines.length <= MAX_LINES && words.length <= MAX_CHARS) return words;
  // Not in the middle of a surrogate pair.
  const kept = lines.slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARS);
  const whole = kept.replace(/[\ud800-\udbff]$/, "");
  return `${whole}\n… (lines: ${withThousands(lines.length)}, characters: ${withThousands(words.length)})`;
}
