/**
 * The workspace: the folder that a run works in, and the rule that no path leaves it.
 *
 * Every path is resolved to its real path first, and an opened file is checked again, so a link that is
 * swapped between the two has no effect. Some paths are refused with `Failure("forbidden")`, without saying
 * whether they exist: those outside, protected ones (the project's own configuration, version control's
 * internals, folders of keys), and those that the run's grant or a rule leaves out.
 */

export interface Workspace {
  /** The workspace's real path. */
  readonly root: string;
  /** Resolves a path. For writing, only the folder above it must be inside; the file need not exist. */
  locate(path: string, use: Use): Promise<WorkspacePlace>;
  /**
   * The path that a program opens when it uses this path unchanged; it need not exist. Does not check
   * whether the run may touch it.
   */
  follow(path: string): Promise<WorkspacePlace>;
  /** True if files with more than one name are read (`Boundary`). A search by other means must check this. */
  readonly hardLinks: boolean;
  /**
   * Works in a folder with a program of the system. The folder is held open, so that swapping it for a link
   * has no effect: `cwd` is valid while `work` runs. Results must be checked with `shows`.
   */
  within<Result>(path: string, work: (folder: HeldFolder) => Promise<Result>): Promise<Result>;
  /** True if a listing may name this path, relative to the root with `/` between names. */
  shows(relative: string): boolean;
  /** A regular file's bytes. Rejects with `not_found`, or with `invalid_request` for more than `maxBytes`. */
  readFile(path: string, maxBytes: number): Promise<Buffer>;
  /** Creates or replaces a whole file, with the folders above it: a reader sees the old or the new content. */
  writeFile(path: string, content: string | Uint8Array): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** The names in a folder, sorted; names of folders end with a `/`. */
  list(path: string): Promise<string[]>;
  /** Removes a file, or an empty folder. */
  remove(path: string): Promise<void>;
  /** Moves a file or a folder to a path that does not exist. */
  move(from: string, to: string): Promise<void>;
}

export type Use = "read" | "write";

export interface WorkspacePlace {
  /** The real, absolute path. */
  readonly path: string;
  /** The path relative to the root, with `/` between names; empty for the root. */
  readonly relative: string;
  readonly exists: boolean;
  readonly isFolder: boolean;
}

export interface HeldFolder {
  /** The working directory for the start of a process. It may be another name than the folder's own. */
  readonly cwd: string;
  /** The folder relative to the root, with `/` between names; empty for the root. */
  readonly relative: string;
}

/** The parts of the workspace that a run may touch, by paths relative to it. */
export interface Boundary {
  mayRead(relative: string): boolean;
  mayWrite(relative: string): boolean;
  /**
   * True if a listing, a search or the move of a folder above may include it without naming it. Files that
   * need approval by name are excluded. By default all readable files.
   */
  mayList?(relative: string): boolean;
  /** Absolute paths, existing or not, that are refused with everything below them: the program's own files. */
  readonly protectedPaths?: readonly string[];
  /** True if files with more than one name are allowed: one of the names may be outside. */
  readonly hardLinks: boolean;
}
