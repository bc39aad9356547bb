/**
 * The changes to files by the calls of a run. The record has each file as it was before a call, and the hash of what
 * the call left. A diff is shown if both contents are known exactly: the new one from a later change of the same
 * file, or from the call's own arguments, checked against the hash.
 */

import { createHash } from "node:crypto";
import { asJson, isJsonObject, type Json, tryParseJson } from "../../base/json.ts";
import { cutToChars } from "../../base/text.ts";
import {
  type FileBefore,
  type FileState,
  type KeptContent,
  LOST,
} from "../../protocol/file-changes.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import { toUnifiedDiff } from "../../tools/files/unified-diff.ts";
import type { ContentPlace } from "../undo/read-changes.ts";
import type { ChangeView } from "./step-views.ts";

/** The size of one diff: a longer one is read in an editor. */
const DIFF_CHARS = 64 * 1024;

export type ReadFileContent = (place: ContentPlace) => Promise<KeptContent | undefined>;

export interface LoggedFileChange {
  readonly before: FileBefore;
  readonly after: FileState | undefined;
  readonly atMs: number;
  readonly call: { readonly seq: number; readonly name: string; readonly arguments: string };
  readonly run: string;
}

/** Reads the logs of one or more runs, each in order. */
export interface ChangeFold {
  read(logged: LoggedEvent): void;
  /** Interrupted changes last. */
  changes(): readonly LoggedFileChange[];
  /** The places of contents, by their SHA-256. */
  readonly contents: ReadonlyMap<string, ContentPlace>;
}

export function createChangeFold(): ChangeFold {
  const contents = new Map<string, ContentPlace>();
  const calls = new Map<string, LoggedFileChange["call"]>();
  const open = new Map<string, FileBefore & { readonly run: string }>();
  const closed: LoggedFileChange[] = [];
  const close = (
    { run, ...before }: FileBefore & { readonly run: string },
    after: FileState | undefined,
    atMs: number,
  ): void => {
    const call = calls.get(`${run} ${before.call_id}`) ?? { seq: 0, name: "", arguments: "" };
    closed.push({ before, after, atMs, call, run });
  };
  return {
    contents,
    read({ run_id: run, seq, event }) {
      if (event.type === "tool_start") {
        const { name, arguments: given } = event;
        calls.set(`${run} ${event.call_id}`, { seq, name, arguments: given });
      }
      if (event.type !== "file_before" && event.type !== "file_after") return;
      const key = `${run} ${event.call_id} ${event.path}`;
      if (event.type === "file_after") {
        const before = open.get(key);
        open.delete(key);
        if (before) close(before, event.state, event.at_ms);
        return;
      }
      const { state, content } = event;
      if (content && state.kind === "file" && state.sha256)
        contents.set(state.sha256, { run, seq });
      // A call that was interrupted is made again: what it found the first time counts.
      if (!open.has(key)) open.set(key, { ...event, run });
    },
    changes() {
      for (const before of open.values()) close(before, undefined, before.at_ms);
      open.clear();
      return closed;
    },
  };
}

export async function toChangeView(
  change: LoggedFileChange,
  contents: ChangeFold["contents"],
  read: ReadFileContent,
): Promise<ChangeView> {
  const { before, after, call, run, atMs } = change;
  const { content: _, ...was } = before;
  const { diff, note } = await toDiff(change, contents, read);
  return {
    run_id: run,
    seq: call.seq,
    call_id: before.call_id,
    tool: call.name,
    path: before.path,
    what: toWhat(before.state, after),
    before: asJson(was.state),
    after: (after as unknown as Json | undefined) ?? null,
    diff,
    note,
    at_ms: atMs,
  };
}

function toWhat(before: FileState, after: FileState | undefined): ChangeView["what"] {
  if (!after) return "unfinished";
  if (before.kind === "none") return "created";
  return after.kind === "none" ? "deleted" : "changed";
}

type Told = Pick<ChangeView, "diff" | "note">;

async function toDiff(
  change: LoggedFileChange,
  contents: ChangeFold["contents"],
  read: ReadFileContent,
): Promise<Told> {
  const { before, after, call } = change;
  if (!after) return untold("The call was interrupted before its result was recorded.");
  if (before.lost) return untold(`The old content was not kept: ${LOST[before.lost]}.`);
  const old = await readText(before.state, contents, read);
  if (old === undefined) return untold("The old content is not text, or not in the record.");
  const now = (await readText(after, contents, read)) ?? findGiven(after, old, call.arguments);
  if (now === undefined) return untold("The new content is not text, or not in the record.");
  const diff = toUnifiedDiff(before.path, old, now);
  return { diff: cutToChars(diff, DIFF_CHARS), note: null };
}

function untold(note: string): Told {
  return { diff: null, note };
}

/** Undefined if the content is not text or not in the record. */
async function readText(
  state: FileState,
  contents: ChangeFold["contents"],
  read: ReadFileContent,
): Promise<string | undefined> {
  if (state.kind === "none") return "";
  if (state.kind !== "file" || state.sha256 === null) return undefined;
  if (state.bytes === 0) return "";
  const place = contents.get(state.sha256);
  const content = place && (await read(place));
  return content?.encoding === "utf8" ? content.data : undefined;
}

const TEXTS = ["content", "text", "new_text", "new_string", "new_str", "new"];
const OLD_TEXTS = ["old_text", "old_string", "old_str", "old"];

/** The new content of the file from the call's arguments, if its hash is that of what the call left. */
function findGiven(after: FileState, old: string, given: string): string | undefined {
  const parsed = tryParseJson(given);
  if (after.kind !== "file" || after.sha256 === null || !isJsonObject(parsed)) return undefined;
  const texts = (names: readonly string[]): string[] =>
    names.flatMap((name) => {
      const value = parsed[name];
      return typeof value === "string" ? [value] : [];
    });
  const news = texts(TEXTS);
  const replaced = texts(OLD_TEXTS).flatMap((from) =>
    news.flatMap((to) => [old.replace(from, () => to), old.replaceAll(from, () => to)]),
  );
  return [...news, ...news.map((text) => old + text), ...replaced].find(
    (text) => createHash("sha256").update(text).digest("hex") === after.sha256,
  );
}
