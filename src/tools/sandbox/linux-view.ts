/** The parts of this machine that a sandboxed command on Linux sees. Reads folders once, when it is opened. */

import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { KernelFiles, View } from "./bubblewrap.ts";
import type { Covers } from "./covers.ts";
import { PERSONA } from "./persona.ts";
import { programFolders, secretSettings } from "./programs.ts";

const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Package stores of whole systems, readable for every user by design. */
const STORES = ["/nix/store", "/gnu/store", "/run/current-system"];

/** System settings that programs read. Private keys are in the same folders as the certificates. */
const SETTINGS = [
  "/etc/alternatives",
  "/etc/ca-certificates",
  "/etc/group",
  "/etc/host.conf",
  "/etc/hosts",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/mime.types",
  "/etc/nsswitch.conf",
  "/etc/passwd",
  "/etc/pki/ca-trust/extracted",
  "/etc/pki/tls/certs",
  "/etc/protocols",
  "/etc/resolv.conf",
  "/etc/services",
  "/etc/ssl/cert.pem",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/timezone",
];

/** Files that reveal the owner of the machine. */
const TELLING: ReadonlySet<string> = new Set([
  ...["/etc/group", "/etc/hosts", "/etc/passwd", "/etc/resolv.conf"],
  ...["/etc/localtime", "/etc/timezone"],
]);

export interface LinuxParts {
  readonly root: string;
  readonly home: string | undefined;
  /**
   * The view for commands of a client: the path at which the workspace is seen, and files in place of the
   * machine's own.
   */
  readonly stranger?: StrangersView | undefined;
  readonly kernel: KernelFiles;
  readonly isFiltered: boolean;
  readonly memoryFilesBytes?: number | undefined;
  /** The command's `PATH`. */
  readonly path: string;
  readonly isWritable: boolean;
  readonly hasNetwork: boolean;
  readonly covers: Covers;
  readonly options: readonly string[];
}

export interface StrangersView {
  readonly place: string;
  readonly files: View["files"];
}

export function viewLinux(parts: LinuxParts): View {
  const { root, stranger, path } = parts;
  const home = stranger ? undefined : realFolder(parts.home);
  const links = SYSTEM.flatMap(link);
  const linked = links.map(([path]) => path);
  const folders = [...SYSTEM, ...STORES].filter((path) => !linked.includes(path) && exists(path));
  return {
    folders,
    links,
    files: [...settings(stranger !== undefined), ...(stranger?.files ?? [])],
    home: stranger ? PERSONA.home : home,
    programs: programFolders(path, { home, root, seen: [...folders, root] }),
    root,
    place: stranger?.place,
    persona: stranger && PERSONA,
    isWritable: parts.isWritable,
    secrets: secretSettings(home),
    ...parts.covers,
    hasNetwork: parts.hasNetwork,
    kernel: parts.kernel,
    isFiltered: parts.isFiltered,
    memoryFilesBytes: parts.memoryFilesBytes,
    options: parts.options,
  };
}

function settings(isStranger: boolean): (readonly [string, string])[] {
  const shown = SETTINGS.filter((path) => exists(path) && !(isStranger && TELLING.has(path)));
  return shown.map((path) => [realpathSync(path), path]);
}

function link(path: string): (readonly [string, string])[] {
  if (!exists(path) || !lstatSync(path).isSymbolicLink()) return [];
  return [[path, readlinkSync(path)]];
}

/** The superuser's home may be `/`, which cannot be hidden. */
function realFolder(path: string | undefined): string | undefined {
  if (path === undefined || !isAbsolute(path) || !exists(path)) return undefined;
  const real = realpathSync(path);
  return real === "/" ? undefined : real;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
