/**
 * The `sandbox` level on Linux: what a command sees of the machine, as arguments for bubblewrap.
 *
 * Nothing is there unless it is listed: the system's programs read-only, a few files of `/etc`, an
 * empty home and `/tmp` in memory, and the workspace. Nothing else can be written, the folders that
 * bubblewrap makes in memory included: they would hold half of the machine's memory. The order of the
 * mounts matters: a later one covers an earlier one.
 */

import { join, relative } from "node:path";
import { isWithin } from "../../base/paths.ts";
import type { KernelFiles } from "./kernel-files.ts";
import { findPins } from "./pins.ts";

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
  /** Files among those that are not to be seen. */
  readonly secrets: readonly string[];
  readonly root: string;
  /** Where the workspace is seen; at its own path when left out. */
  readonly place?: string | undefined;
  readonly isWritable: boolean;
  /** Inside the workspace: not to be changed. */
  readonly readOnly: readonly string[];
  /** Inside the workspace: not to be seen. */
  readonly hidden: readonly Hidden[];
  readonly hasNetwork: boolean;
  readonly kernel: KernelFiles;
  /** Whether a filter of system calls comes with the command, at `FILTER_DESCRIPTOR`. */
  readonly isFiltered: boolean;
  /** A user and a machine that the command sees in place of the real ones. */
  readonly persona?: { readonly uid: number; readonly hostname: string } | undefined;
  /** How much each folder in memory may hold. */
  readonly memoryFilesBytes?: number | undefined;
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

/** What a command may fill in memory: home, temporary files and shared memory, each. */
const MAX_MEMORY_FILES_BYTES = 512 * 1024 * 1024;

/** Where bubblewrap finds its options and the filter. It closes both before the command starts. */
export const OPTIONS_DESCRIPTOR = 3;
export const FILTER_DESCRIPTOR = 4;

/** Folders in memory, beside the home folder, that commands can write to. */
export const MEMORY_FOLDERS = ["/dev/shm", "/tmp", "/var/tmp"];

/** Bubblewrap's options for one command. */
export function bubblewrapArguments(view: View, command: ViewedCommand): string[] {
  const { root, place = root } = view;
  // A folder may be named by a path that only looks like another one's: untouched where it can be.
  const seen = (path: string): string =>
    place !== root && isWithin(root, path) ? join(place, relative(root, path)) : path;
  return [
    ...boundaries(view),
    ...view.folders.flatMap((folder) => ["--ro-bind", folder, folder]),
    ...view.links.flatMap(([path, target]) => ["--symlink", target, path]),
    ...view.files.flatMap(([path, at]) => ["--ro-bind", path, at]),
    ...kernelFolders(view),
    ...MEMORY_FOLDERS.flatMap((path) => memoryFolder(path, view)),
    ...["--remount-ro", "/dev"],
    ...(view.home === undefined ? [] : memoryFolder(view.home, view)),
    ...view.programs.flatMap((folder) => ["--ro-bind", folder, folder]),
    ...view.secrets.flatMap((path) => cover(path, false)),
    ...command.reads.flatMap((path) => ["--ro-bind", path, path]),
    ...command.writes.flatMap((path) => ["--bind", path, path]),
    ...[view.isWritable ? "--bind" : "--ro-bind", root, place],
    // The system refuses to rename what something is mounted on.
    ...pinsOf(view).flatMap((path) => ["--bind", path, seen(path)]),
    ...view.readOnly.flatMap((path) => ["--ro-bind", path, seen(path)]),
    ...view.hidden.flatMap(({ path, isFolder }) => cover(seen(path), isFolder)),
    ...["--remount-ro", "/", "--chdir", seen(command.cwd)],
  ];
}

function pinsOf({ root, isWritable, readOnly, hidden }: View): string[] {
  return isWritable ? findPins(root, { readOnly, hidden: hidden.map(({ path }) => path) }) : [];
}

function boundaries({ hasNetwork, options, isFiltered, persona }: View): string[] {
  return [
    // Named beside `--unshare-all`, which goes on without a user namespace where there is none.
    ...["--unshare-all", "--unshare-user"],
    ...(hasNetwork ? ["--share-net"] : []),
    ...(options.includes("--disable-userns") ? ["--disable-userns"] : []),
    // Without a session of its own it could type into the terminal.
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...(isFiltered ? ["--seccomp", String(FILTER_DESCRIPTOR)] : []),
    ...(persona ? ["--uid", String(persona.uid), "--gid", String(persona.uid)] : []),
    ...(persona ? ["--hostname", persona.hostname] : []),
  ];
}

function kernelFolders({ kernel }: View): string[] {
  return [
    ...["--proc", "/proc", "--dev", "/dev"],
    ...kernel.readOnly.flatMap((path) => ["--ro-bind", path, path]),
    ...kernel.hidden.flatMap(({ path, isFolder }) => cover(path, isFolder)),
  ];
}

function cover(path: string, isFolder: boolean): string[] {
  return isFolder ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path];
}

function memoryFolder(path: string, view: View): string[] {
  const bytes = view.memoryFilesBytes ?? MAX_MEMORY_FILES_BYTES;
  const size = view.options.includes("--size") ? ["--size", String(bytes)] : [];
  return [...size, "--tmpfs", path];
}
