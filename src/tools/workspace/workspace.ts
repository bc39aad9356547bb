/**
 * The workspace: the folder a run works in, and the rule that no path leaves it.
 *
 * Every path is resolved to its real place first, and what was opened is checked once more, so a link
 * that is swapped between the two leads nowhere. Refused with `Failure("forbidden")`, without saying
 * whether there is something: what lies outside, what is protected (the project's own configuration,
 * version control's insides, folders of keys), what the run's grant or a rule leaves out.
 */

export interface Workspace {
  /** Its real path. */
  readonly root: string;
  /** Where a path leads. To write, only the folder above it must be inside; it need not exist. */
  locate(path: string, use: Use): Promise<Place>;
  /**
   * Where a program is led that opens this path as it is written; it need not be there. Says nothing of
   * whether the run may touch it.
   */
  follow(path: string): Promise<Place>;
  /** Whether files with more than one name are read (`Boundary`); who searches by other means checks. */
  readonly hardLinks: boolean;
  /**
   * Works in a folder by a program of the system, held so that swapping it for a link leads nowhere:
   * `cwd` is good for as long as `work` lasts. What comes of it must be weighed by `shows`.
   */
  within<Result>(path: string, work: (folder: HeldFolder) => Promise<Result>): Promise<Result>;
  /** Whether a listing may name this path, given relative to the root with `/` between names. */
  shows(relative: string): boolean;
  /** A regular file's bytes. Rejects with `not_found`, or with `invalid_request` for more than `maxBytes`. */
  readFile(path: string, maxBytes: number): Promise<Buffer>;
  /** Makes or replaces a file as a whole, with the folders above it: a reader sees the old or the new. */
  writeFile(path: string, content: string | Uint8Array): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** The names in a folder, sorted, those of folders with a `/` behind. */
  list(path: string): Promise<string[]>;
  /** Removes a file, or an empty folder. */
  remove(path: string): Promise<void>;
  /** Moves a file or a folder to a place where there is nothing. */
  move(from: string, to: string): Promise<void>;
}

export type Use = "read" | "write";

export interface Place {
  /** The real, absolute path. */
  readonly path: string;
  /** The same relative to the root, with `/` between names; empty for the root. */
  readonly relative: string;
  readonly exists: boolean;
  readonly isFolder: boolean;
}

export interface HeldFolder {
  /** For the start of a process; it may be another name than the folder's own. */
  readonly cwd: string;
  /** The folder from the root, with `/` between names; empty for the root. */
  readonly relative: string;
}

/** What of the workspace a run may touch, by paths relative to it. */
export interface Boundary {
  mayRead(relative: string): boolean;
  mayWrite(relative: string): boolean;
  /**
   * Whether a listing, a search or the move of a folder above it may include it without naming it: what
   * is asked about by its name is not. By default all that may be read.
   */
  mayList?(relative: string): boolean;
  /** Absolute paths, there or not, that are refused with all below them: the program's own files. */
  readonly protectedPaths?: readonly string[];
  /** Whether files with more than one name are let through: one of the names may lie outside. */
  readonly hardLinks: boolean;
}
