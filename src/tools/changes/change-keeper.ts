/**
 * Keeps the states of files before the calls of one run changed them, as events of its log. Content is kept
 * once for each hash, within limits. A file with keys is never kept: the record has no secrets.
 */

import type { Clock } from "../../base/clock.ts";
import type { Redact } from "../../base/redact.ts";
import {
  type FileEvent,
  type FileState,
  type KeptContent,
  type LostReason,
  MAX_KEPT_BYTES,
  MAX_RUN_BYTES,
} from "../../protocol/file-changes.ts";
import { isSensitive } from "../workspace/protected.ts";
import type { SeenFile } from "./file-states.ts";

/** A file event before its call is known. */
export type Unowned<Event extends FileEvent = FileEvent> = Event extends FileEvent
  ? Omit<Event, "call_id">
  : never;

export type KeepEvents = (events: readonly Unowned[]) => Promise<unknown>;

export interface ChangeKeeper {
  before(path: string, seen: SeenFile, how?: Happened): Unowned;
  after(path: string, state: FileState): Unowned;
}

interface Happened {
  readonly sinceMs?: number;
  readonly lost?: LostReason | undefined;
}

interface KeeperParts {
  readonly clock: Pick<Clock, "now">;
  readonly redact: Redact;
}

export function createChangeKeeper({ clock, redact }: KeeperParts): ChangeKeeper {
  const kept = new Set<string>();
  let keptBytes = 0;

  /**
   * The part of a file's content to record: the content, the reason why it is missing, or nothing if the
   * log has it.
   */
  function keep(path: string, { state, content }: SeenFile): Kept {
    if (state.kind !== "file") return {};
    if (isSensitive(path)) return { lost: "keys" };
    if (state.sha256 === null) return { lost: "unread" };
    if (kept.has(state.sha256)) return {};
    if (content === undefined || content.length > MAX_KEPT_BYTES) return { lost: "large" };
    if (keptBytes + content.length > MAX_RUN_BYTES) return { lost: "full" };
    const text = content.toString("utf8");
    if (redact(text) !== text) return { lost: "keys" };
    kept.add(state.sha256);
    keptBytes += content.length;
    return { content: encode(content, text) };
  }

  return {
    before(path, seen, { sinceMs, lost } = {}) {
      const at_ms = clock.now();
      const own = lost === undefined ? keep(path, seen) : { lost };
      const { state } = seen;
      return { type: "file_before", path, state, ...own, since_ms: sinceMs ?? at_ms, at_ms };
    },
    after: (path, state) => ({ type: "file_after", path, state, at_ms: clock.now() }),
  };
}

interface Kept {
  readonly content?: KeptContent;
  readonly lost?: LostReason;
}

/**
 * Encodes content as text if that gives the same bytes back: it is shorter, and people can read it in the
 * record.
 */
function encode(content: Buffer, text: string): KeptContent {
  return Buffer.from(text, "utf8").equals(content)
    ? { encoding: "utf8", data: text }
    : { encoding: "base64", data: content.toString("base64") };
}

export function decodeContent({ encoding, data }: KeptContent): Buffer {
  return Buffer.from(data, encoding);
}
