/** Chooses what of a conversation is kept word for word when it is compacted: what people said, and how it ended. */

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

/** The share of the room that the end of the conversation may take; the messages get the rest. */
const TAIL_SHARE = 0.25;

/** `except` is an item that is reported in another way: an earlier summary. */
export function keepWords(items: readonly Item[], maxTokens: number, except?: Item): KeptWords {
  const said = items.filter((item) => item !== except && isPromptMessage(item)) as Message[];
  const tail = findTail(items, maxTokens * TAIL_SHARE);
  const room = maxTokens * (1 - TAIL_SHARE);
  const messages = [...chooseMessages(said, room).values()];
  return { messages, tail, covered: said.map(toMark) };
}

/** For a conversation whose end has still to be answered: the end stays as it is. */
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
 * The part that the model is asked to answer: the last thing the user said and what followed. If that is too long, the
 * user's words and the end.
 */
export function findAsked(items: readonly Item[], maxTokens: number): readonly Item[] {
  const lastUser = items.findLastIndex(isUserMessage);
  const points = findCutPoints(items).filter((point) => point < items.length);
  const fits = (point: number): boolean =>
    items.slice(point).reduce((sum, item) => sum + estimateItem(item), 0) <= maxTokens;
  const start = points.findLast((point) => point <= lastUser);
  if (start !== undefined && fits(start)) return items.slice(start);
  const after = points.filter((point) => point > lastUser);
  const cut = after.find(fits) ?? after.at(-1) ?? Math.max(start ?? 0, 0);
  return items.filter((_, at) => at === lastUser || at >= cut);
}

/** The items after the user's last message, as many as there is room for; open calls are always included. */
function findTail(items: readonly Item[], maxTokens: number): readonly Item[] {
  const lastUser = items.findLastIndex(isUserMessage);
  const waiting = findOpenCall(items);
  const points = findCutPoints(items).filter((point) => point > lastUser && point <= waiting);
  const fits = (point: number): boolean =>
    items.slice(point).reduce((sum, item) => sum + estimateItem(item), 0) <= maxTokens;
  const cut = points.find(fits) ?? points.at(-1) ?? items.length;
  return items.slice(cut).filter((item) => !isPromptMessage(item));
}

/**
 * All instructions, and the newest of the user's messages, in their order. Maps each message to what is kept of it.
 */
export function chooseMessages(said: readonly Message[], maxTokens: number): Map<Item, Item> {
  let left = maxTokens;
  const chosen: [Item, Item][] = [];
  for (const message of said.toReversed()) {
    const lean = withoutData(message);
    const cost = estimateItem(lean);
    if (!isInstruction(lean) && cost > left) {
      // An older, shorter one would stand without what was said in between.
      left = 0;
      continue;
    }
    left -= cost;
    chosen.unshift([message, lean]);
  }
  return new Map(chosen);
}

/** Longer texts are data of images and files; ids and addresses are kept. */
const MAX_FIELD_CHARS = 2000;

/** Replaces images and files inside the message by their names: the data would fill the room at once. */
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
