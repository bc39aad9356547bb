/**
 * Messages that people send to a run while it works. Any process can leave them; the run reads them before its next
 * turn. A message that comes while the last answer is written makes the run continue, as long as it has turns left.
 */

import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import { makeId } from "../base/ids.ts";
import { isJsonObject, type Json } from "../base/json.ts";
import { plural } from "../base/text.ts";
import type { Engine, RunContext } from "../engine/engine.ts";
import type { Item } from "../protocol/items.ts";
import type { Notice } from "../protocol/run-events.ts";

const TOPIC = "steer";
/** The most characters of one message: more than a person types, and less than any window. */
const MAX_CHARS = 100_000;

/**
 * Leaves a message for a run. Rejects if the run has ended or does not exist. The same key again is the same message.
 */
export async function steerRun(
  engine: Pick<Engine, "signal">,
  id: string,
  text: string,
  key?: string,
): Promise<void> {
  if (text.trim() === "") {
    throw new Failure("invalid_request", "The message is empty. Write what the run should know.", {
      param: "text",
    });
  }
  if (text.length > MAX_CHARS) {
    const message = `The message has ${text.length} characters; ${MAX_CHARS} are the most.`;
    throw new Failure("invalid_request", message, { param: "text" });
  }
  const item = makeId("msg");
  await engine.signal(id, TOPIC, { key: key ?? item, body: { id: item, text } });
}

/** Reads the messages that came since the last turn. Called once for each turn, before it. */
export type ReadInbox = (turn: number) => Promise<readonly Item[]>;

interface InboxParts {
  readonly context: RunContext;
  readonly clock: Clock;
  /** Replaces the messages that people leave, when a run is replayed. */
  readonly inbox?: ReadInbox | undefined;
}

/** The part of the loop's state that messages change. */
interface Listening {
  items: Item[];
  readonly turns: number;
  /** The last turn before which messages were looked for. */
  heard: number;
  readonly notices: Notice[];
}

/** Adds the messages to the conversation, and reports them in the log. Returns whether there were any. */
export async function hear(parts: InboxParts, progress: Listening): Promise<boolean> {
  const turn = progress.turns + 1;
  const items = await look(parts, progress, turn);
  if (items.length === 0) return false;
  const { context, clock } = parts;
  await context.step(`input:${turn}`, async (step) => {
    step.end([{ type: "run_input", items, at_ms: clock.now() }]);
    return null;
  });
  progress.items = [...progress.items, ...items];
  return true;
}

/** For a run that ends without another turn: reports the messages that it will not read. */
export async function hearTooLate(parts: InboxParts, progress: Listening): Promise<void> {
  const { length } = await look(parts, progress, progress.turns + 1);
  if (length === 0) return;
  const message = `${plural(length, "message")} came too late: the run had no turn left for it.`;
  progress.notices.push({ type: "notice", code: "unread", message });
}

/** Looks once for each turn: a run that continues because of a message has looked already. */
async function look(
  { context, inbox = readFrom(context) }: InboxParts,
  progress: Listening,
  turn: number,
): Promise<readonly Item[]> {
  if (progress.heard === turn) return [];
  progress.heard = turn;
  return await inbox(turn);
}

function readFrom(context: RunContext): ReadInbox {
  return async (turn) => (await context.take(TOPIC, `model:${turn}`)).flatMap(toMessage);
}

function toMessage(body: Json): Item[] {
  if (!isJsonObject(body)) return [];
  const { id, text } = body;
  if (typeof id !== "string" || typeof text !== "string") return [];
  return [{ type: "message", id, role: "user", content: [{ type: "input_text", text }] }];
}
