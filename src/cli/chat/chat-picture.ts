/** What the rows below the finished text show at one moment of a chat, from its parts. Changes nothing. */

import type { Picture } from "../screen/frame.ts";
import type { Row } from "../screen/rows.ts";
import { toActivityRows, toWaitingRows } from "./chat-rows.ts";
import type { ChatWork } from "./chat-work.ts";
import type { Editor } from "./editor/editor.ts";
import { layOutEditor } from "./editor/layout.ts";
import type { ChatEngine } from "./open-chat.ts";
import type { Picker } from "./picker.ts";
import { MARGIN, PROMPT, type PromptField } from "./prompt-field.ts";
import type { Questions } from "./questions.ts";
import { toStatusRow } from "./status-row.ts";
import { shareRows, toPicture } from "./view.ts";

export interface ChatMoment {
  readonly work: ChatWork;
  readonly field: PromptField;
  readonly questions: Questions;
  readonly picker: Picker | undefined;
  /** The editor of an answer; undefined if no question is answered now. */
  readonly answer: Editor | undefined;
  /** Undefined while it is loaded. */
  readonly engine: ChatEngine | undefined;
  /** The effect of the last key. */
  readonly note: string;
  readonly nowMs: number;
}

export interface ChatRoom {
  readonly columns: number;
  readonly maxRows: number;
  /** The open end of the answer. What is finished of it is printed. */
  takeOpen(columns: number, maxRows: number): readonly Row[];
}

export function toChatPicture(
  moment: ChatMoment,
  { columns, maxRows, takeOpen }: ChatRoom,
): Picture {
  const { work, answer, nowMs } = moment;
  const field = answer ?? moment.field.editor;
  const room = { columns, prompt: PROMPT, margin: MARGIN };
  const menu = toMenu(moment, columns, Math.floor(maxRows / 2));
  const activity = toActivityRows(work, { columns, maxRows: Math.floor(maxRows / 3), nowMs });
  const waiting = toWaitingRows(work);
  const written = layOutEditor(field, field.folds, { ...room, maxRows: Math.floor(maxRows / 2) });
  const wanted = { menu: menu.length, activity: activity.length, waiting: waiting.length };
  const shares = shareRows(maxRows, { ...wanted, editor: written.rows.length });
  const editor = layOutEditor(field, field.folds, { ...room, maxRows: shares.editor });
  const open = takeOpen(columns, shares.open);
  const status = toStatus(moment, columns);
  return toPicture({ open, activity, waiting, menu, editor, status }, shares, columns);
}

function toMenu({ questions, picker, field }: ChatMoment, columns: number, maxRows: number): Row[] {
  if (questions.editor) return questions.toRows(columns);
  if (picker) return picker.toRows(columns, maxRows);
  return field.toHelpRows(columns);
}

function toStatus({ engine, work, answer, note }: ChatMoment, columns: number): Row {
  const { turn, spent, contextUsed } = work;
  const atWork = turn ? "Enter steers · Tab queues · Esc stops" : "";
  const hint = answer ? "Enter answers · Esc stops the run" : atWork;
  return toStatusRow(
    {
      model: engine?.model.ref,
      isThinking: engine?.isThinking ?? false,
      contextUsed,
      contextTokens: engine?.contextTokens,
      spent,
      maxUsd: engine?.maxUsd,
      hint,
      note,
    },
    columns,
  );
}
