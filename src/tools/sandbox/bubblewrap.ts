/**
 * The `sandbox` level on Linux: what a command sees of the machine, as arguments for bubblewrap.
 *
 * A command sees only what is listed: the system's programs read-only, a few files of `/etc`, an empty home
 * and `/tmp` in memory, and the workspace. It can write nowhere else, not even to the folders that
 * bubblewrap makes in memory, which could fill half of the machine's memory. The order of the mounts
 * matters: a later one covers an earlier one.
 */

import { join, relative } from "node:path";
import { isWithin } from "../../base/paths.ts";
import { findPins } from "./pins.ts";

/** All paths are real and exist. */
export interface View {
  /** Programs and libraries, seen read-only. */
  readonly folders: readonly string[];
  /** Links of the system, such as `/bin` to `usr/bin`: their path and their target. */
  readonly links: readonly (readonly [path: string, target: string])[];
  /** Files seen read-only at another path than their own: their path, and the path at which they are seen. */
  readonly files: readonly (readonly [path: string, place: string])[];
  readonly home: string | undefined;
  /** Folders of programs that are not the system's. */
  readonly programs: readonly string[];
  /** Files in these folders that must not be seen. */
  readonly secrets: readonly string[];
  readonly root: string;
  /** The path at which the workspace is seen; its own if missing. */
  readonly place?: string | undefined;
  readonly isWritable: boolean;
  /** Paths inside the workspace that must not change. */
  readonly readOnly: readonly string[];
  /** Paths inside the workspace that must not be seen. */
  readonly hidden: readonly Hidden[];
  readonly hasNetwork: boolean;
  readonly kernel: KernelFiles;
  /** True if a filter of system calls comes with the command, at `FILTER_DESCRIPTOR`. */
  readonly isFiltered: boolean;
  /** A user and a machine that the command sees in place of the real ones. */
  readonly persona?: { readonly uid: number; readonly hostname: string } | undefined;
  /** The size limit of each folder in memory. */
  readonly memoryFilesBytes?: number | undefined;
  /** The options of the installed bubblewrap that not all versions have. */
  readonly options: readonly string[];
}

export interface Hidden {
  readonly path: string;
  readonly isFolder: boolean;
}

export interface KernelFiles {
  readonly hidden: readonly Hidden[];
  readonly readOnly: readonly string[];
}

export interface ViewedCommand {
  readonly cwd: string;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** The limit of each folder in memory: home, temporary files and shared memory. */
const MAX_MEMORY_FILES_BYTES = 512 * 1024 * 1024;

/** The descriptors of bubblewrap's options and of the filter. It closes both before the command starts. */
export const OPTIONS_DESCRIPTOR = 3;
export const FILTER_DESCRIPTOR = 4;

/** Folders in memory, beside the home folder, that commands can write to. */
export const MEMORY_FOLDERS = ["/dev/shm", "/tmp", "/var/tmp"];

/** Bubblewrap's options for one command. */
export function bubblewrapArguments(view: View, command: ViewedCommand): string[] {
  const { root, place = root } = view;
  // A path may only look like another one's, so it is kept unchanged if possible.
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
    // The system refuses to rename a folder on which something is mounted.
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
    // Named in addition to `--unshare-all`, which continues without a user namespace if there is none.
    ...["--unshare-all", "--unshare-user"],
    ...(hasNetwork ? ["--share-net"] : []),
    ...(options.includes("--disable-userns") ? ["--disable-userns"] : []),
    // Without a session of its own, the command could type into the terminal.
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
