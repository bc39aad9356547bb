/**
 * The `sandbox` level on Linux: what a command sees of the machine, as arguments for bubblewrap.
 *
 * Nothing is there unless it is listed: the system's programs read-only, a few files of `/etc`, an
 * empty home and `/tmp` in memory, and the workspace at its own path. The order of the mounts
 * matters: a later one covers an earlier one.
 */

/** All paths are real and exist. */
export interface View {
  /** Programs and libraries, seen read-only. */
  readonly folders: readonly string[];
  /** Links of the system, such as `/bin` to `usr/bin`: where they are and where they lead. */
  readonly links: readonly (readonly [path: string, target: string])[];
  /** Files seen read-only at another place than their own: where they are, and where they are seen. */
  readonly files: readonly (readonly [path: string, place: string])[];
  readonly home: string | undefined;
  /** Where programs live that are not the system's. */
  readonly programs: readonly string[];
  readonly root: string;
  readonly isWritable: boolean;
  /** Inside the workspace: not to be changed. */
  readonly readOnly: readonly string[];
  /** Inside the workspace: not to be seen. */
  readonly hidden: readonly Hidden[];
  readonly hasNetwork: boolean;
  /** What the installed bubblewrap understands beside what all do. */
  readonly options: readonly string[];
}

export interface Hidden {
  readonly path: string;
  readonly isFolder: boolean;
}

export interface ViewedCommand {
  readonly cwd: string;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** What a command may fill in memory: home and temporary files, each. */
const MAX_MEMORY_FILES_BYTES = 512 * 1024 * 1024;

/** To be followed by the command's own words. */
export function bubblewrapArguments(view: View, command: ViewedCommand): string[] {
  return [
    // Named beside `--unshare-all`, which goes on without a user namespace where there is none.
    ...["--unshare-all", "--unshare-user"],
    ...(view.hasNetwork ? ["--share-net"] : []),
    ...(view.options.includes("--disable-userns") ? ["--disable-userns"] : []),
    // Without a session of its own it could type into the terminal.
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...view.folders.flatMap((folder) => ["--ro-bind", folder, folder]),
    ...view.links.flatMap(([path, target]) => ["--symlink", target, path]),
    ...view.files.flatMap(([path, place]) => ["--ro-bind", path, place]),
    ...["--proc", "/proc", "--dev", "/dev"],
    // The kernel's settings are root's, and root inside is root outside where it started as root.
    ...["--ro-bind", "/proc/sys", "/proc/sys"],
    ...memoryFolder("/tmp", view),
    ...memoryFolder("/var/tmp", view),
    ...(view.home === undefined ? [] : memoryFolder(view.home, view)),
    ...view.programs.flatMap((folder) => ["--ro-bind", folder, folder]),
    ...command.reads.flatMap((path) => ["--ro-bind", path, path]),
    ...command.writes.flatMap((path) => ["--bind", path, path]),
    ...[view.isWritable ? "--bind" : "--ro-bind", view.root, view.root],
    ...view.readOnly.flatMap((path) => ["--ro-bind", path, path]),
    ...view.hidden.flatMap(({ path, isFolder }) =>
      isFolder ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path],
    ),
    ...["--chdir", command.cwd, "--"],
  ];
}

function memoryFolder(path: string, { options }: View): string[] {
  const size = options.includes("--size") ? ["--size", String(MAX_MEMORY_FILES_BYTES)] : [];
  return [...size, "--tmpfs", path];
}
