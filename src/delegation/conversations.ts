/**
 * The conversations of children, a private file each: what was asked, said and done, and how it ended. Written when a
 * child has ended, however it ended, from its log and from what its parent knows of it.
 */

import { join } from "node:path";
import type { AgentTask } from "../agent/task.ts";
import type { Clock } from "../base/clock.ts";
import { type Failure, toFailure } from "../base/failure.ts";
import { asJson, type Json, type JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { Redact } from "../base/redact.ts";
import type { RecordReader } from "../engine/engine.ts";
import { readWholeLog } from "../engine/read-log.ts";
import type { Ending, RunEnd, RunEvent } from "../protocol/run-events.ts";
import type { ChildReport } from "./child.ts";
import { readMessages } from "./conversation-messages.ts";
import { hasNoAnswer, NO_ANSWER } from "./envelope.ts";
import { createRunFold } from "./ledger/run-figures.ts";

/** A child that will not continue in this process. */
interface EndedChild {
  readonly id: string;
  readonly parentId: string;
  readonly task: AgentTask;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Undefined if its parent was cancelled, or it could not be started: `failure` says why. */
  readonly report: ChildReport | undefined;
  readonly failure: Failure | undefined;
}

interface ConversationParts {
  /** A folder for each root, in it a file for each child. */
  readonly dir: string;
  readonly record: Pick<RecordReader, "readEvents">;
  /** Waits for the ending of a run of this process. */
  whenEnded(id: string, signal: AbortSignal): Promise<unknown>;
  /** Writes a file that only the user may read, whole or not at all. */
  write(path: string, text: string): Promise<void>;
  readonly redact: Redact;
  readonly log: Log;
  readonly clock: Clock;
}

export interface Conversations {
  /** Called when a child starts; the returned function is called once, when the child has ended. */
  open(signal: AbortSignal): TellEnd;
  /** Waits until the conversations of cancelled children are written, while the record can still be read. */
  close(): Promise<void>;
}

/** Never rejects: what cannot be written is logged, and the run continues. */
type TellEnd = (child: EndedChild) => Promise<void>;

/** A cancelled child ends at once; a tool that does not stop must not delay the others. */
const ENDING_MS = 2000;

export function createConversations(parts: ConversationParts): Conversations {
  const { log, clock } = parts;
  /** Children that have started, each with the promise that its conversation is written. */
  const running = new Map<AbortSignal, Set<Promise<void>>>();
  let isClosed = false;

  const write = async (child: EndedChild): Promise<void> => {
    // A child that still runs can be resumed, and is written when it ends.
    if (isClosed) return;
    try {
      await keep(parts, child);
    } catch (thrown) {
      const { message: error } = toFailure(thrown);
      log.warn("conversation not written", { child_id: child.id, error });
    }
  };

  return {
    open(signal) {
      let settle = (): void => {};
      const settled = new Promise<void>((resolve) => {
        settle = resolve;
      });
      const siblings = running.get(signal) ?? new Set();
      running.set(signal, siblings.add(settled));
      return async (child) => {
        await write(child);
        settle();
        siblings.delete(settled);
        if (siblings.size === 0) running.delete(signal);
      };
    },
    async close() {
      // A cancelled run ends before its children are written: it does not wait for tools.
      const ending = [...running].flatMap(([signal, all]) => (signal.aborted ? [...all] : []));
      if (ending.length > 0) await waitAWhile(clock, () => Promise.all(ending));
      isClosed = true;
    },
  };
}

async function waitAWhile(
  clock: Clock,
  wait: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const done = new AbortController();
  try {
    await Promise.race([wait(done.signal), clock.sleep(ENDING_MS, done.signal)]);
  } finally {
    done.abort();
  }
}

/** `run_1/count-1.0` is `run_1/count-1.0.json`; no part of an id leads out of the folder. */
export function toConversationPath(dir: string, id: string): string {
  const names = id.split("/").map((name) => name.replace(/[^\w.-]/g, "_").replace(/^\.+/, "_"));
  return `${join(dir, ...names)}.json`;
}

async function keep(parts: ConversationParts, child: EndedChild): Promise<void> {
  // A cancelled parent does not wait for its children, which end at the same time.
  if (!child.report) {
    await waitAWhile(parts.clock, (signal) => parts.whenEnded(child.id, signal)).catch(() => {});
  }
  const log = await readWholeLog(parts.record, child.id);
  const events = log.map(({ event }) => event);
  const isOpen = events.length > 0 && events.at(-1)?.type !== "run_end";
  // The child's process stops: the child can be resumed, and is written when it ends.
  if (!child.report && isOpen) return;
  const conversation = redactDeep(toConversation(child, events), parts.redact);
  const text = `${JSON.stringify(conversation, null, 2)}\n`;
  await parts.write(toConversationPath(parts.dir, child.id), text);
}

function toConversation(child: EndedChild, events: readonly RunEvent[]): JsonObject {
  const { id, parentId: parent_id, task, report } = child;
  const fold = createRunFold();
  for (const event of events) fold.read(event);
  const { figures } = fold;
  const { ending, error } = toOutcome(child, events);
  return {
    id,
    parent_id,
    label: task.label,
    depth: task.depth,
    messages: asJson(readMessages(task, events, report?.text ?? "")),
    started_at: toTime(figures.started_at_ms ?? child.startedAtMs),
    completed_at: toTime(figures.ended_at_ms ?? child.endedAtMs),
    metadata: {
      // A process that was killed has reported nothing; its log has what it did until then.
      turns_used: Math.max(report?.turns ?? 0, figures.turns),
      tokens_consumed: Math.max(report?.usage.total_tokens ?? 0, figures.usage.total_tokens),
      completion_status: STATUS[ending] ?? ending,
      max_turns_reached: ending === "max_turns",
      task_prompt: promptOf(task),
      summary_prompt: task.summary_prompt,
      allowed_tools: task.tools,
      error,
    },
  };
}

/** Endings in the envelope's words; every other ending keeps its own name. */
const STATUS: Partial<Record<Ending, string>> = {
  completed: "complete",
  max_turns: "incomplete",
  budget: "incomplete",
};

interface Outcome {
  readonly ending: Ending;
  readonly error: string | null;
}

/** The parent's report has precedence over the log: a child that was killed has not written its ending. */
function toOutcome({ report, failure }: EndedChild, events: readonly RunEvent[]): Outcome {
  if (report && hasNoAnswer(report)) return { ending: "failed", error: NO_ANSWER };
  const end = report ?? events.findLast((event): event is RunEnd => event.type === "run_end");
  if (end) {
    const { ending, message } = end;
    return { ending, error: ending === "completed" ? null : message || ending };
  }
  const { code, message } = failure ?? { code: "internal", message: "It has no ending." };
  return { ending: code === "cancelled" || code === "timeout" ? code : "failed", error: message };
}

function promptOf({ items: [item] }: AgentTask): string {
  return item?.type === "message" && typeof item.content === "string" ? item.content : "";
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Redacts each text alone: in the JSON as a whole a replacement could remove a quote. */
function redactDeep(value: Json, redact: Redact): Json {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((one: Json) => redactDeep(one, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, redactDeep(one as Json, redact)]),
  );
}
