/**
 * Rows that show what is at work in a chat, with a moving sign and its time, and the words that wait. Pure.
 */

import { PEN, type Row } from "../screen/rows.ts";
import { cleanForTerminal } from "../terminal.ts";
import { type ChatWork, TICK_MS } from "./chat-work.ts";

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
