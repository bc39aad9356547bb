/**
 * The changes to files by the tools of some runs and of everything below them, read from their logs.
 */

import type { RecordReader } from "../../engine/engine.ts";
import { readLog } from "../../engine/read-log.ts";
import type { FileBefore, FileState, LostReason } from "../../protocol/file-changes.ts";
import type { RunEvent } from "../../protocol/run-events.ts";

/** Where the content of a file is in the record. */
export interface ContentPlace {
  readonly run: string;
  readonly seq: number;
}

export interface UndoableChange {
  readonly run: string;
  readonly path: string;
  readonly before: FileState;
  /** Undefined for a change that was interrupted. */
  readonly after: FileState | undefined;
  readonly lost: LostReason | undefined;
  readonly sinceMs: number;
  readonly atMs: number;
}

export interface ReadChanges {
  /** The oldest first. */
  readonly changes: readonly UndoableChange[];
  /** The places of contents, by their hash. */
  readonly contents: ReadonlyMap<string, ContentPlace>;
  /** Calls that may have changed files without a comparison afterwards, one line each. */
  readonly unseen: readonly string[];
}

/** A run, all of it or what it did from one moment to another. */
export interface UndoneRun {
  readonly id: string;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

export async function readChanges(
  record: RecordReader,
  runs: readonly UndoneRun[],
): Promise<ReadChanges> {
  const changes: UndoableChange[] = [];
  const contents = new Map<string, ContentPlace>();
  const unseen: string[] = [];
  for (const { id, sinceMs = 0, untilMs = Number.POSITIVE_INFINITY } of runs) {
    const isMeant = (atMs: number): boolean => atMs >= sinceMs && atMs < untilMs;
    for await (const run of listTree(record, id)) {
      const fold = await foldLog(record, run);
      for (const [hash, seq] of fold.contents) contents.set(hash, { run, seq });
      changes.push(...fold.changes().filter(({ sinceMs: at }) => isMeant(at)));
      unseen.push(...fold.unseen().flatMap(({ atMs, text }) => (isMeant(atMs) ? [text] : [])));
    }
  }
  changes.sort((a, b) => a.sinceMs - b.sinceMs || a.atMs - b.atMs);
  return { changes, contents, unseen };
}

async function foldLog(record: RecordReader, run: string): Promise<ReturnType<typeof createFold>> {
  const fold = createFold(run);
  for await (const page of readLog(record, run)) {
    for (const { event, seq } of page) fold.read(event, seq);
  }
  return fold;
}

const MOST_CHILDREN = 1000;

/** The run and all below it. */
async function* listTree(record: RecordReader, id: string): AsyncGenerator<string> {
  const queue = [id];
  for (let run = queue.shift(); run !== undefined; run = queue.shift()) {
    yield run;
    for (let before: string | undefined; ; ) {
      const page = await record.listRuns({ limit: MOST_CHILDREN, parent_id: run, before });
      queue.push(...page.map((child) => child.id));
      before = page.at(-1)?.id;
      if (page.length < MOST_CHILDREN) break;
    }
  }
}

interface Fold {
  read(event: RunEvent, seq: number): void;
  /** Numbers of the events that have a content, by its hash. */
  readonly contents: ReadonlyMap<string, number>;
  changes(): UndoableChange[];
  unseen(): { readonly atMs: number; readonly text: string }[];
}

interface OpenCall {
  readonly name: string;
  readonly atMs: number;
}

function createFold(run: string): Fold {
  const contents = new Map<string, number>();
  const changes: UndoableChange[] = [];
  const calls = new Map<string, OpenCall>();
  const open = new Map<string, FileBefore>();
  /** Calls that started a program, until the folder was compared after it. */
  const started = new Map<string, string>();
  const keyOf = (event: { call_id: string; path: string }): string =>
    `${event.call_id}\0${event.path}`;
  const close = (event: FileBefore, after: FileState | undefined, atMs: number): void => {
    const { path, state: before, lost, since_ms: sinceMs } = event;
    changes.push({ run, path, before, after, lost, sinceMs, atMs });
  };
  return {
    contents,
    read(event, seq) {
      switch (event.type) {
        case "tool_start":
          calls.set(event.call_id, { name: event.name, atMs: event.at_ms });
          break;
        case "tool_process":
          started.set(event.call_id, "its end was not seen, or the folder was not compared");
          break;
        case "file_watch":
          if (event.missed === null) started.delete(event.call_id);
          else started.set(event.call_id, event.missed);
          break;
        case "file_before": {
          const { state, content } = event;
          if (content && state.kind === "file" && state.sha256 !== null) {
            contents.set(state.sha256, seq);
          }
          // A call that was interrupted is made again: what it found the first time counts.
          if (!open.has(keyOf(event))) open.set(keyOf(event), event);
          break;
        }
        case "file_after": {
          const before = open.get(keyOf(event));
          open.delete(keyOf(event));
          if (before) close(before, event.state, event.at_ms);
          break;
        }
      }
    },
    changes() {
      for (const event of open.values()) close(event, undefined, event.at_ms);
      open.clear();
      return changes;
    },
    unseen() {
      return [...started].map(([call, why]) => {
        const { name, atMs } = calls.get(call) ?? { name: "a command", atMs: 0 };
        return { atMs, text: `${name} (${why})` };
      });
    },
  };
}
