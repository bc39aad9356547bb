/**
 * What tools did to files, as a run's log has it, so that it can be undone. Each change is two events: how the
 * file was, written before it is touched, and how the call left it. A change without the second was interrupted.
 */

/** Most bytes of one file that are kept. */
export const MAX_KEPT_BYTES: number = 4 * 1024 * 1024;
/** Most bytes of files that one run keeps; what is changed after that is named and not kept. */
export const MAX_RUN_BYTES: number = 64 * 1024 * 1024;

/** Which changes are kept: those of the tools for files, those of commands too, none. */
export const UNDO_MODES = ["all", "files", "off"] as const;
export type UndoMode = (typeof UNDO_MODES)[number];

/** What lies at a path. Two are the same where nobody could tell them apart by their content and mode. */
export type FileState =
  | { readonly kind: "none" }
  | { readonly kind: "folder"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  /** `sha256` is null where the content was not read. */
  | {
      readonly kind: "file";
      readonly mode: number;
      readonly bytes: number;
      readonly sha256: string | null;
    }
  /** A socket, a pipe, a device: never restored. */
  | { readonly kind: "other" };

/** Why the old content of a file was not kept, one line each. */
export const LOST = {
  large: "it is larger than 4 MB",
  full: "the run had changed more than 64 MB of files",
  keys: "it holds a key, or its name says that it may",
  unread: "it could not be read",
  unwatched: "a command changed it, and more files were watched than are kept",
} as const;
export type LostReason = keyof typeof LOST;

export interface KeptContent {
  readonly encoding: "utf8" | "base64";
  readonly data: string;
}

/** A file as it was, right before a call changes it. */
export interface FileBefore {
  readonly type: "file_before";
  readonly call_id: string;
  /** From the workspace, with `/` between names. */
  readonly path: string;
  readonly state: FileState;
  /** Left out where there is none, or the run's log has the same content already. */
  readonly content?: KeptContent | undefined;
  readonly lost?: LostReason | undefined;
  /** When the change may have begun: for a command, when it started. */
  readonly since_ms: number;
  readonly at_ms: number;
}

/** The same file as the call left it. */
export interface FileAfter {
  readonly type: "file_after";
  readonly call_id: string;
  readonly path: string;
  readonly state: FileState;
  readonly at_ms: number;
}

/** A call started programs, and the workspace was compared before and after it. */
export interface FileWatch {
  readonly type: "file_watch";
  readonly call_id: string;
  /** What was not compared, for a person; null where that is nothing but `UNWATCHED_FOLDERS`. */
  readonly missed: string | null;
  readonly at_ms: number;
}

/** Folders that commands fill and nobody edits: what lies in them is not compared. */
export const UNWATCHED_FOLDERS: readonly string[] = [
  ...["node_modules", "bower_components", ".yarn", ".pnpm-store", "Pods"],
  ...[".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache"],
  ...["target", ".gradle", ".cache", ".next", ".nuxt", ".turbo", ".parcel-cache"],
];

export type FileEvent = FileBefore | FileAfter | FileWatch;

export const NOTHING_THERE: FileState = { kind: "none" };

/** Whether both are the same; what was not read is like nothing. */
export function isSameState(one: FileState, other: FileState): boolean {
  switch (one.kind) {
    case "none":
      return other.kind === "none";
    case "folder":
      return other.kind === "folder";
    case "link":
      return other.kind === "link" && other.target === one.target;
    case "file":
      return (
        other.kind === "file" &&
        one.sha256 !== null &&
        other.sha256 === one.sha256 &&
        other.mode === one.mode
      );
    case "other":
      return false;
  }
}
