/**
 * Changes that tools made to files, as a run's log stores them, so that they can be undone. Each change is
 * two events: the file before, written before it is touched, and the file after the call. A change without
 * the second was interrupted.
 */

/** Largest file whose content is kept, in bytes. */
export const MAX_KEPT_BYTES: number = 4 * 1024 * 1024;
/** Most bytes of files that one run keeps. Later changes are listed without their content. */
export const MAX_RUN_BYTES: number = 64 * 1024 * 1024;

/** Which changes are kept: those of all tools, those of file tools without commands, or none. */
export const UNDO_MODES = ["all", "files", "off"] as const;
export type UndoMode = (typeof UNDO_MODES)[number];

/** The state of a path. Two states are the same if content and mode are. */
export type FileState =
  | { readonly kind: "none" }
  | { readonly kind: "folder"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  /** `sha256` is null if the content was not read. */
  | {
      readonly kind: "file";
      readonly mode: number;
      readonly bytes: number;
      readonly sha256: string | null;
    }
  /** A socket, a pipe, a device: never restored. */
  | { readonly kind: "other" };

/** The reasons why the old content of a file was not kept, one line each. */
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

/** A file as it was just before a call changes it. */
export interface FileBefore {
  readonly type: "file_before";
  readonly call_id: string;
  /** Relative to the workspace, with `/` between names. */
  readonly path: string;
  readonly state: FileState;
  /** Missing if there is none, or if the run's log has the same content already. */
  readonly content?: KeptContent | undefined;
  readonly lost?: LostReason | undefined;
  /** The earliest time of the change: for a command, its start. */
  readonly since_ms: number;
  readonly at_ms: number;
}

/** The file as the call left it. */
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
  /** Folders that were not compared, for a person; null if only `UNWATCHED_FOLDERS` were left out. */
  readonly missed: string | null;
  readonly at_ms: number;
}

/** Folders that commands fill and people do not edit: their content is not compared. */
export const UNWATCHED_FOLDERS: readonly string[] = [
  ...["node_modules", "bower_components", ".yarn", ".pnpm-store", "Pods"],
  ...[".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache"],
  ...["target", ".gradle", ".cache", ".next", ".nuxt", ".turbo", ".parcel-cache"],
];

export type FileEvent = FileBefore | FileAfter | FileWatch;

export const NOTHING_THERE: FileState = { kind: "none" };

/** True if both states are the same; content that was not read equals nothing. */
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
