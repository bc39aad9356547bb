/**
 * Reads what a runner writes to standard output: the words of its answer as they come, and how it
 * ended. A frame's text is inside its JSON, so a model's words cannot be a frame of their own.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { createSseReader } from "../../base/sse.ts";
import { ENDINGS, type RunEnd } from "../../protocol/run-events.ts";
import { PERSON_ASK, type PersonAsk, parsePersonAsk } from "../person-line.ts";
import { PLACE, type PlaceAsk, parsePlaceAsk } from "../place-line.ts";
import { parseQuestion, QUESTION, type QuestionFrame } from "../questions.ts";
import { parseAsk, TOP_UP, type TopUpAsk } from "../top-up.ts";

/** More than any answer; the rest is not kept, and the text says so. */
const MAX_TEXT_CHARS = 8 * 1024 * 1024;
/** A child that writes more is out of control. */
const MAX_OUTPUT_BYTES = 100 * 1024 * 1024;

export const TRUNCATED = "\n[Output truncated]";

/** Why there is nothing more to wait for. */
export type Over = "delivered" | "broken" | "flooded";

export interface FrameReader {
  push(bytes: Uint8Array): void;
  end(): void;
  /** Resolves when the answer is complete, or can no longer become complete. */
  readonly over: Promise<Over>;
  readonly heard: Heard;
}

/** The contents of the frames so far. */
export interface Heard {
  readonly frames: number;
  /** The words of all turns. */
  readonly text: string;
  /** The document, if one was asked for. */
  readonly json: Json | undefined;
  /** The number of finished turns. */
  readonly turns: number;
  /** The error in the stream, without its `Error: `. */
  readonly error: string | undefined;
  /** True if the last frame of a whole answer came. */
  readonly isWhole: boolean;
  readonly report: RunEnd | undefined;
  readonly over: Over | undefined;
}

export interface FrameLimits {
  readonly textChars: number;
  readonly outputBytes: number;
}

const LIMITS: FrameLimits = { textChars: MAX_TEXT_CHARS, outputBytes: MAX_OUTPUT_BYTES };

/** Receives what the child asks while it works. */
interface Asked {
  onTopUp?(ask: TopUpAsk): void;
  onQuestion?(frame: QuestionFrame): void;
  onPersonAsk?(ask: PersonAsk): void;
  onPlace?(ask: PlaceAsk): void;
}

export function createFrameReader(
  limits: FrameLimits = LIMITS,
  { onTopUp, onQuestion, onPersonAsk, onPlace }: Asked = {},
): FrameReader {
  const text = createTextKeeper(limits.textChars);
  const state = {
    frames: 0,
    json: undefined as Json | undefined,
    turns: 0,
    error: undefined as string | undefined,
    isWhole: false,
    report: undefined as RunEnd | undefined,
    over: undefined as Over | undefined,
  };
  let bytes = 0;
  const { over, end } = createEnding();
  const finish = (why: Over): void => {
    state.over ??= why;
    end(why);
  };

  function read(data: string, event: string): void {
    if (state.over === "broken" || state.over === "flooded") return;
    const frame = tryParseJson(data);
    if (!isJsonObject(frame)) return finish("broken");
    state.frames++;
    const delta = typeof frame["delta"] === "string" ? frame["delta"] : "";
    FRAMES[event]?.(delta, frame);
  }

  const tellOf = <Asked>(asked: Asked | undefined, tell?: (asked: Asked) => void): void =>
    asked === undefined ? finish("broken") : tell?.(asked);

  const FRAMES: Readonly<Record<string, (delta: string, frame: JsonObject) => void>> = {
    output_text: text.add,
    output_structured(delta) {
      state.json = tryParseJson(delta);
    },
    block_end(delta) {
      text.mark();
      if (delta.startsWith("Error:")) state.error = delta.slice("Error:".length).trim();
      else state.turns++;
    },
    response_end: () => Object.assign(state, { isWhole: true }),
    // A turn that a crash interrupted is said again.
    subagent_resume: () => text.back(),
    [TOP_UP]: (_, frame) => tellOf(parseAsk(frame), onTopUp),
    [QUESTION]: (_, frame) => tellOf(parseQuestion(frame), onQuestion),
    [PLACE]: (_, frame) => tellOf(parsePlaceAsk(frame), onPlace),
    [PERSON_ASK]: (_, frame) => tellOf(parsePersonAsk(frame), onPersonAsk),
    subagent_report(_, frame) {
      if (!isRunEnd(frame)) return finish("broken");
      state.report = frame;
      finish("delivered");
    },
  };

  const lines = createSseReader(read);
  // Ends the reading at a line longer than the reader keeps.
  const guarded = (act: () => void): void => guard(act, () => finish("broken"));
  return {
    push(piece) {
      bytes += piece.length;
      if (bytes > limits.outputBytes) finish("flooded");
      // Later output is read, so that the child can end, and thrown away.
      if (state.over !== "flooded" && state.over !== "broken") guarded(() => lines.push(piece));
    },
    end: () => guarded(lines.end),
    over,
    get heard() {
      return { ...state, text: text.read() };
    },
  };
}

function guard(act: () => void, onThrown: () => void): void {
  try {
    act();
  } catch {
    onThrown();
  }
}

function createEnding(): { readonly over: Promise<Over>; end(why: Over): void } {
  let end: (why: Over) => void = () => {};
  const over = new Promise<Over>((resolve) => {
    end = resolve;
  });
  return { over, end: (why) => end(why) };
}

interface TextKeeper {
  add(piece: string): void;
  /** Marks the end of a turn. */
  mark(): void;
  /** Forgets what was said since the last mark. */
  back(): void;
  read(): string;
}

function createTextKeeper(maxChars: number): TextKeeper {
  let pieces: string[] = [];
  let chars = 0;
  let marked = { pieces: 0, chars: 0 };
  let isCut = false;
  return {
    add(piece) {
      const room = maxChars - chars;
      isCut ||= piece.length > room;
      if (room <= 0) return;
      pieces.push(piece.slice(0, room));
      chars += Math.min(piece.length, room);
    },
    mark() {
      marked = { pieces: pieces.length, chars };
    },
    back() {
      pieces = pieces.slice(0, marked.pieces);
      chars = marked.chars;
    },
    read: () => `${pieces.join("")}${isCut ? TRUNCATED : ""}`,
  };
}

function isRunEnd(frame: JsonObject): frame is JsonObject & RunEnd {
  const { type, ending, message, output_text, usage } = frame;
  return (
    type === "run_end" &&
    typeof ending === "string" &&
    Object.hasOwn(ENDINGS, ending) &&
    typeof message === "string" &&
    typeof output_text === "string" &&
    isJsonObject(usage)
  );
}
