/** What of this machine a sandboxed command on Linux sees. Looks at folders once, when it is opened. */

import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { Hidden, View } from "./bubblewrap.ts";
import { isWithin, programFolders } from "./programs.ts";

const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Stores of whole systems, open to everybody by design. */
const STORES = ["/nix/store", "/gnu/store", "/run/current-system"];

/** What programs look up of the system's settings; private keys lie beside the certificates. */
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

export interface LinuxParts {
  readonly root: string;
  readonly home: string | undefined;
  /** The command's `PATH`. */
  readonly path: string;
  readonly isWritable: boolean;
  readonly hasNetwork: boolean;
  readonly hidden: readonly string[];
  readonly readOnly: readonly string[];
  readonly options: readonly string[];
}

export function viewLinux(parts: LinuxParts): View {
  const { root } = parts;
  const home = realFolder(parts.home);
  const links = SYSTEM.flatMap(link);
  const linked = links.map(([path]) => path);
  const folders = [...SYSTEM, ...STORES].filter((path) => !linked.includes(path) && exists(path));
  return {
    folders,
    links,
    files: SETTINGS.filter(exists).map((path) => [realpathSync(path), path]),
    home,
    programs: programFolders(parts.path, { home, root, seen: [...folders, root] }),
    root,
    isWritable: parts.isWritable,
    readOnly: parts.readOnly.flatMap((path) => inside(root, path)).map(({ path }) => path),
    hidden: parts.hidden.flatMap((path) => inside(root, path)),
    hasNetwork: parts.hasNetwork,
    options: parts.options,
  };
}

function link(path: string): (readonly [string, string])[] {
  if (!exists(path) || !lstatSync(path).isSymbolicLink()) return [];
  return [[path, readlinkSync(path)]];
}

/** A link in the workspace is followed: what it leads to is covered, or lies outside and is not seen. */
function inside(root: string, name: string): Hidden[] {
  const path = resolve(root, name);
  if (!exists(path)) return [];
  const real = realpathSync(path);
  if (real === root || !isWithin(root, real)) return [];
  return [{ path: real, isFolder: statSync(real).isDirectory() }];
}

/** The superuser's home may be `/`, which is no home to hide. */
function realFolder(path: string | undefined): string | undefined {
  if (path === undefined || !isAbsolute(path) || !exists(path)) return undefined;
  const real = realpathSync(path);
  return real === "/" ? undefined : real;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
