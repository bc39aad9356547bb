/** What of a conversation is kept word for word when it is compacted: what people said, and how it ended. */

import type { ContentPart } from "../../protocol/content.ts";
import type { Item, Message } from "../../protocol/items.ts";
import { findCutPoints, findOpenCall } from "./cut-points.ts";
import { isPromptMessage } from "./expand-compactions.ts";
import { toMark } from "./message-text.ts";
import { estimateItem } from "./token-estimate.ts";
import { isInstruction, isUserMessage } from "./truncation.ts";

export interface KeptWords {
  readonly messages: readonly Item[];
  readonly tail: readonly Item[];
  readonly covered: readonly string[];
}

/** How much of the room the end of the conversation may take; the messages get the rest. */
const TAIL_SHARE = 0.25;

/** `except` is what is told otherwise: an earlier summary. */
export function keepWords(items: readonly Item[], maxTokens: number, except?: Item): KeptWords {
  const said = items.filter((item) => item !== except && isPromptMessage(item)) as Message[];
  const tail = findTail(items, maxTokens * TAIL_SHARE);
  const room = maxTokens * (1 - TAIL_SHARE);
  const messages = [...chooseMessages(said, room).values()];
  return { messages, tail, covered: said.map(toMark) };
}

/** Of a conversation of which the end is still to be answered: the end stays as it is. */
export function keepAsked(
  before: readonly Item[],
  asked: readonly Item[],
  room: KeptRoom,
): KeptWords {
  const { messages, covered } = keepWords(before, room.maxTokens, room.except);
  const marks = asked.filter(isPromptMessage).map(toMark);
  return { messages, tail: asked, covered: [...covered, ...marks] };
}

interface KeptRoom {
  readonly maxTokens: number;
  readonly except: Item | undefined;
}

/**
 * What the model is asked to answer: the last thing the user said and what came of it. Of more than there
 * is room for, the user's words and the end.
 */
export function findAsked(items: readonly Item[], maxTokens: number): readonly Item[] {
  const lastUser = items.findLastIndex(isUserMessage);
  const points = findCutPoints(items).filter((point) => point < items.length);
  const fits = (point: number): boolean =>
    items.slice(point).reduce((sum, item) => sum + estimateItem(item), 0) <= maxTokens;
  const start = points.findLast((point) => point <= lastUser);
  if (start !== undefined && fits(start)) return items.slice(start);
  const behind = points.filter((point) => point > lastUser);
  const cut = behind.find(fits) ?? behind.at(-1) ?? Math.max(start ?? 0, 0);
  return items.filter((_, at) => at === lastUser || at >= cut);
}

/** Behind the last thing the user said, as much as there is room for; calls that wait in any case. */
function findTail(items: readonly Item[], maxTokens: number): readonly Item[] {
  const lastUser = items.findLastIndex(isUserMessage);
  const waiting = findOpenCall(items);
  const points = findCutPoints(items).filter((point) => point > lastUser && point <= waiting);
  const fits = (point: number): boolean =>
    items.slice(point).reduce((sum, item) => sum + estimateItem(item), 0) <= maxTokens;
  const cut = points.find(fits) ?? points.at(-1) ?? items.length;
  return items.slice(cut).filter((item) => !isPromptMessage(item));
}

/** Instructions all; of the user's words the newest, in their order. Each with what is kept of it. */
export function chooseMessages(said: readonly Message[], maxTokens: number): Map<Item, Item> {
  let left = maxTokens;
  const chosen: [Item, Item][] = [];
  for (const message of said.toReversed()) {
    const lean = withoutData(message);
    const cost = estimateItem(lean);
    if (!isInstruction(lean) && cost > left) {
      // An older one that is shorter would stand without what was said in between.
      left = 0;
      continue;
    }
    left -= cost;
    chosen.unshift([message, lean]);
  }
  return new Map(chosen);
}

/** Longer texts are the media itself; ids and addresses are kept. */
const MAX_FIELD_CHARS = 2000;

/** Images and files that are in the message itself are named: they would fill the room at once. */
function withoutData(message: Message): Item {
  const { content } = message;
  if (typeof content === "string") return message;
  return { ...message, content: content.map(nameData) };
}

function nameData(part: ContentPart): ContentPart {
  const data = [
    "image_url" in part ? part.image_url : "",
    "file_data" in part ? part.file_data : "",
  ];
  const isLong = data.some((text) => typeof text === "string" && text.length > MAX_FIELD_CHARS);
  if (!isLong && part.type !== "input_audio") return part;
  return { type: "input_text", text: `[${part.type} that was given here]` };
}
