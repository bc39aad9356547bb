/** A place for chats, with a scripted model that follows its prompts. */

import { systemClock } from "../../src/base/clock.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { reply, type ScriptEngine, script } from "../../src/testing/index.ts";
import type { AnswerReply } from "../../src/testing/reply.ts";
import { replyEvents } from "../../src/testing/reply-events.ts";
import { untilTrue } from "../patience.ts";
import { createPlace, type Place } from "./command.ts";
import { startInTmux, type Tmux } from "./tmux.ts";
import { CHAT } from "./wires.ts";

export interface ChatPlace extends AsyncDisposable {
  readonly place: Place;
  /** The URL of the model's server. */
  readonly url: string;
  /** `offshoot chat` with this model. */
  readonly args: readonly string[];
  /** Lets answers that are held continue. */
  release(): void;
}

export async function createChatPlace(
  files: Readonly<Record<string, string>> = {},
  { key }: { readonly key?: string } = {},
): Promise<ChatPlace> {
  const place = await createPlace(files);
  let isFree = false;
  const { makeId } = script();
  const engine: ScriptEngine = async function* (request, { signal }) {
    const words = asked(request);
    const stop = stopOf(words);
    let text = "";
    for await (const batch of replyEvents(choose(request), request, { signal, makeId })) {
      const deltas = batch.flatMap((event) => (event.type === "text_delta" ? [event.delta] : []));
      if (words === "flow" && deltas.length > 0) {
        // It waits until it is released: otherwise the rest is never sent.
        if (isFree) continue;
        await systemClock.sleep(PIECE_MS, signal);
      }
      yield batch;
      text += deltas.join("");
      if (stop !== undefined && text.includes(stop))
        await untilTrue(() => isFree || signal.aborted, "to be let go");
    }
  };
  const upstream = await CHAT.start({ engine, ...(key === undefined ? {} : { key }) });
  return {
    place,
    url: upstream.url,
    args: ["chat", "-m", "test-model", "--url", upstream.url, "--provider", CHAT.provider],
    release() {
      isFree = true;
    },
    async [Symbol.asyncDispose]() {
      isFree = true;
      await upstream[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

interface OpenedChat {
  readonly columns?: number;
  readonly rows?: number;
  /** Options of the command. */
  readonly more?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly isJob?: boolean;
}

/** A chat in tmux that accepts input, and has its model. */
export async function openChat(
  { place, args }: ChatPlace,
  { columns = 100, rows = 30, more = [], ...options }: OpenedChat = {},
): Promise<Tmux> {
  const tmux = await startInTmux(place, [...args, ...more], [columns, rows], options);
  await tmux.sees(/^> *$/);
  await tmux.sees(/test-model/);
  return tmux;
}

/** Some 100,000 characters of Markdown. */
export const PROSE = Array.from(
  { length: 1000 },
  (_, at) =>
    `Paragraph ${String(at).padStart(3, "0")} has **strong** words, some \`code\` in it, and it ends after some hundred characters.\n\n`,
).join("");

/** Rows of different widths, more than any test waits for. */
const FLOW = Array.from({ length: 20_000 }, (_, at) =>
  at % 5 === 0
    ? `row ${at} has some more words, so that it is longer than others are`
    : `row ${at}`,
).join("\n\n");

/** A model's pace: some thousand characters a second. */
const PIECE_MS = 2;

const EDIT = { name: "edit", arguments: { path: "a.txt", old_string: "two", new_string: "TWO" } };

/** The fixed answers to some prompts. */
const SAID: Readonly<Record<string, string>> = {
  hold: "Holding\n\nstill",
  "a hint": "Heard: a hint",
  "what came along?": "Nothing came along.",
  "write prose": PROSE,
  flow: FLOW,
};

function choose(request: ModelRequest): AnswerReply {
  const prompts = promptsOf(request);
  const last = prompts.at(-1) ?? "";
  const result = request.items.at(-1);
  if (result?.type === "function_call_output") {
    const text = String(result.output);
    return reply.text(
      text.includes('"success":true') ? "The file is edited." : `It was refused: ${text}`,
    );
  }
  const said = SAID[last];
  if (said !== undefined) return reply.text(said);
  if (last === "edit please")
    return reply.calls([{ ...EDIT, arguments: JSON.stringify(EDIT.arguments) }]);
  if (last === "what did I say first?") return reply.text(`You said first: ${prompts[0]}`);
  if (last === "how often did I speak?") return reply.text(`${prompts.length} times`);
  if (last.startsWith("Summarise our conversation")) return reply.text("We spoke of alpha.");
  if (last.endsWith("what came along?")) return reply.text(last);
  if (last.startsWith("how many pictures?")) return reply.text(`${countPictures(request)} picture`);
  if (last.startsWith("count ")) return reply.text(`${last.split("\n").length} lines`);
  if (last.startsWith("stream ")) {
    const rows = Array.from({ length: Number(last.slice(7)) }, (_, at) => `row ${at} of many\n`);
    return reply.text(rows.join(""));
  }
  return reply.text(last.replace(/^say /, ""));
}

/** The text after which an answer is held until it is released. */
function stopOf(words: string): string | undefined {
  if (words === "hold") return "Holding";
  return words.startsWith("stream ") ? "row 60" : undefined;
}

function asked(request: ModelRequest): string {
  return request.items.at(-1)?.type === "message" ? (promptsOf(request).at(-1) ?? "") : "";
}

function countPictures({ items }: ModelRequest): number {
  const counts = items.map((item) => {
    if (item.type !== "message" || typeof item.content === "string") return 0;
    return item.content.filter(({ type }) => type === "input_image").length;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

function promptsOf({ items }: ModelRequest): string[] {
  return items.flatMap((item) => {
    if (item.type !== "message" || item.role !== "user") return [];
    if (typeof item.content === "string") return [item.content];
    return [item.content.map((part) => (part.type === "input_text" ? part.text : "")).join("")];
  });
}
