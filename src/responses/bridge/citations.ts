/**
 * Adds citations to a model's messages as annotations: links to pages that a search of this conversation has found
 * and to files that its code has written, and markers of files (`【file-id】`), which are removed from the text.
 *
 * Annotations of a vendor are kept as they are. Indices count JavaScript's characters.
 */

import type { Annotation, Logprob } from "../../protocol/content.ts";
import type { Item, Message } from "../../protocol/items.ts";
import type { ItemEnd, ModelEvent, TextDelta } from "../../protocol/model-events.ts";
import { readResults } from "../kinds/web-results.ts";
import {
  type ContainerLinks,
  collectContainerLinks,
  findContainerLinks,
} from "./container-links.ts";
import { createQuotes, findStatement } from "./quotes.ts";

export interface Citations {
  /** Returns the events that replace an event of an answer. */
  read(event: ModelEvent): ModelEvent[];
}

/** Undefined if nothing was found or written, so that nothing can be cited. */
export function createCitations(items: readonly Item[]): Citations | undefined {
  const sources = collectSources(items);
  const { pages, files, links } = sources;
  if (pages.size + files.size + links.size === 0) return undefined;
  return new CitedMessages(sources);
}

interface CitedFile {
  readonly file_id: string;
  readonly filename: string;
  /** Returns the passage that a statement is taken from. */
  readonly quote: (statement: string) => string;
}

interface Sources {
  /** By address, without the parts that do not matter. */
  readonly pages: ReadonlyMap<string, { readonly url: string; readonly title: string }>;
  /** File names by their ids, and ids by their names. */
  readonly files: ReadonlyMap<string, CitedFile>;
  readonly links: ContainerLinks;
}

function collectSources(items: readonly Item[]): Sources {
  const pages = new Map<string, { url: string; title: string }>();
  const files = new Map<string, CitedFile>();
  for (const page of items.flatMap(pagesOf)) {
    const key = toPageKey(page.url);
    if (key !== undefined && !pages.get(key)?.title) pages.set(key, page);
  }
  for (const file of filesIn(items)) {
    files.set(file.file_id, file);
    if (!files.has(file.filename)) files.set(file.filename, file);
  }
  return { pages, files, links: collectContainerLinks(items) };
}

function filesIn(items: readonly Item[]): CitedFile[] {
  const found = items.flatMap((item) =>
    item.type === "file_search_call" ? (item.results ?? []) : [],
  );
  const files = new Map<string, { filename: string; passages: string[] }>();
  for (const { file_id, filename, text } of found) {
    if (!file_id) continue;
    const passages: string[] = files.get(file_id)?.passages ?? [];
    if (text) passages.push(text);
    files.set(file_id, { filename: filename ?? "", passages });
  }
  return [...files].map(([file_id, { filename, passages }]) => {
    return { file_id, filename, quote: createQuotes(passages) };
  });
}

function pagesOf(item: Item): { url: string; title: string }[] {
  if (item.type !== "web_search_call") return [];
  const results = "results" in item ? readResults(item.results) : undefined;
  const { sources, url } = item.action ?? {};
  const found = [...(results ?? []), ...(readResults(sources) ?? []), { url, title: undefined }];
  return found.flatMap(({ url: address, title = "" }) =>
    address ? [{ url: address, title }] : [],
  );
}

/** Undefined if it is not an address. */
function toPageKey(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  url.searchParams.delete("utm_source");
  return `${url.host.replace(/^www\./, "")}${url.pathname.replace(/\/+$/, "")}${url.search}`;
}

/** A message in progress. */
interface OpenMessage {
  part: number;
  /** The text of the part that was passed on. */
  text: string;
  /** Text that may be the beginning of a marker. */
  held: string;
  /** Probabilities of tokens that have come and were not passed on. */
  logprobs: Logprob[];
  /** True if the vendor annotates it itself. */
  isForeign: boolean;
}

/** A marker, with the space before it. */
const MARKER = / ?【([^】\n]{1,160})】/;
/** Text at the end that may become a marker. */
const MAY_BE_MARKER = /(?: ?【[^】\n]{0,160}| )$/;

class CitedMessages implements Citations {
  readonly #sources: Sources;
  readonly #open = new Map<number, OpenMessage>();

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  read(event: ModelEvent): ModelEvent[] {
    if (event.type === "item_start" && event.item.type === "message") {
      this.#open.set(event.index, { part: 0, text: "", held: "", logprobs: [], isForeign: false });
    }
    if (!("index" in event)) return [event];
    const message = this.#open.get(event.index);
    if (!message) return [event];
    if (event.type === "text_delta") return this.#delta(event, message);
    if (event.type === "annotation") message.isForeign = true;
    return event.type === "item_end" ? this.#end(event, message) : [event];
  }

  #delta(event: TextDelta, message: OpenMessage): ModelEvent[] {
    const { index, part } = event;
    const before = part === message.part ? [] : this.#closePart(index, message);
    message.part = part;
    const isPlain =
      message.held === "" && message.logprobs.length === 0 && !/ $|【/.test(event.delta);
    if (isPlain) {
      message.text += event.delta;
      return [...before, event];
    }
    message.logprobs.push(...(event.logprobs ?? []));
    return [...before, ...this.#release(index, message, { delta: event.delta, isLast: false })];
  }

  /** Passes on text that is not a marker, and an annotation for the marker of a known file. */
  #release(
    index: number,
    message: OpenMessage,
    { delta, isLast }: { readonly delta: string; readonly isLast: boolean },
  ): ModelEvent[] {
    const events: ModelEvent[] = [];
    const { part } = message;
    const give = (text: string): void => {
      if (text === "") return;
      message.text += text;
      events.push({ type: "text_delta", index, part, delta: text, ...takeLogprobs(message) });
    };
    let rest = message.held + delta;
    for (let found = MARKER.exec(rest); found; found = MARKER.exec(rest)) {
      give(rest.slice(0, found.index));
      const cited = findFiles(found[1] ?? "", this.#sources);
      if (cited.length === 0) give(found[0]);
      for (const file of cited) {
        const annotation = toFileCitation(file, message.text);
        events.push({ type: "annotation", index, part, annotation });
      }
      rest = rest.slice(found.index + found[0].length);
    }
    const keptFrom = isLast ? -1 : rest.search(MAY_BE_MARKER);
    message.held = keptFrom < 0 ? "" : rest.slice(keptFrom);
    give(keptFrom < 0 ? rest : rest.slice(0, keptFrom));
    return events;
  }

  /** Passes on the withheld text of a part, and what it links to. */
  #closePart(index: number, message: OpenMessage): ModelEvent[] {
    const events = this.#release(index, message, { delta: "", isLast: true });
    const { part, text } = message;
    const links = message.isForeign ? [] : findLinks(text, this.#sources);
    message.text = "";
    return [
      ...events,
      ...links.map((annotation): ModelEvent => ({ type: "annotation", index, part, annotation })),
    ];
  }

  #end(event: ItemEnd, message: OpenMessage): ModelEvent[] {
    this.#open.delete(event.index);
    const wasWritten = message.text !== "" || message.held !== "";
    const events = wasWritten ? this.#closePart(event.index, message) : [];
    const item = message.isForeign ? event.item : citeMessage(event.item as Message, this.#sources);
    return [...events, { ...event, item }];
  }
}

/**
 * Tokens are not divided: those of a text that is passed on in pieces come with the first piece.
 */
function takeLogprobs(message: OpenMessage): Pick<TextDelta, "logprobs"> {
  const { logprobs } = message;
  message.logprobs = [];
  return logprobs.length > 0 ? { logprobs } : {};
}

/** The complete message, the same as its deltas. */
function citeMessage(message: Message, sources: Sources): Message {
  const { content } = message;
  const parts =
    typeof content === "string" ? [{ type: "output_text" as const, text: content }] : content;
  const cited = parts.map((part) => {
    if (part.type !== "output_text" || part.annotations?.length) return part;
    const { text, annotations } = citeText(part.text, sources);
    return annotations.length === 0 ? part : { ...part, text, annotations };
  });
  const isSame = cited.every((part, at) => part === parts[at]);
  return isSame ? message : { ...message, content: cited };
}

function citeText(whole: string, sources: Sources): { text: string; annotations: Annotation[] } {
  const annotations: Annotation[] = [];
  let text = "";
  let rest = whole;
  for (let found = MARKER.exec(rest); found; found = MARKER.exec(rest)) {
    text += rest.slice(0, found.index);
    const cited = findFiles(found[1] ?? "", sources);
    if (cited.length === 0) text += found[0];
    annotations.push(...cited.map((file) => toFileCitation(file, text)));
    rest = rest.slice(found.index + found[0].length);
  }
  text += rest;
  return { text, annotations: [...annotations, ...findLinks(text, sources)] };
}

/**
 * A marker may name several files, and have more text after each: `file-1, file-2`, `file-1†source`.
 */
function findFiles(marker: string, { files }: Sources): CitedFile[] {
  const names = [marker, ...marker.split(/[,;†|]/)].map((name) => name.trim());
  const found = names.flatMap((name) => files.get(name) ?? []);
  return [...new Map(found.map((file) => [file.file_id, file])).values()];
}

/**
 * `text` is the text before the marker. The published citation has only `index`; the other fields are ours.
 */
function toFileCitation({ file_id, filename, quote }: CitedFile, text: string): Annotation {
  const span = findStatement(text);
  const statement = text.slice(span.start_index);
  const index = text.length;
  return { type: "file_citation", file_id, filename, index, quote: quote(statement), ...span };
}

function findLinks(text: string, sources: Sources): Annotation[] {
  return [...findPages(text, sources), ...findContainerLinks(text, sources.links)];
}

/** Links and bare addresses of pages that were found, in the order of the text. */
function findPages(text: string, { pages }: Sources): Annotation[] {
  if (pages.size === 0) return [];
  return [...text.matchAll(/https?:\/\/[^\s<>"'`\]【】]+/g)].flatMap(({ 0: raw, index }) => {
    const address = toAddress(raw);
    const page = pages.get(toPageKey(address) ?? "");
    if (!page) return [];
    const [start_index, end_index] = toSpan(text, index, index + address.length);
    return [{ type: "url_citation" as const, ...page, start_index, end_index }];
  });
}

/** Without a bracket that was opened before it, and without the end of the sentence. */
function toAddress(raw: string): string {
  let depth = 0;
  for (let at = 0; at < raw.length; at++) {
    if (raw[at] === "(") depth++;
    if (raw[at] === ")" && --depth < 0) return raw.slice(0, at);
  }
  return raw.replace(/[.,;:!?*_]+$/, "");
}

/** The whole link if the address is inside one: `[title](address)`. */
function toSpan(text: string, start: number, end: number): [number, number] {
  if (text.slice(start - 2, start) !== "](" || text[end] !== ")") return [start, end];
  const open = text.lastIndexOf("[", start - 3);
  const isNear = open >= 0 && !text.slice(open, start).includes("\n");
  return isNear ? [open, end + 1] : [start, end];
}
