/**
 * The `sandbox` level on macOS: a profile in Seatbelt's own language, for `sandbox-exec -p`.
 *
 * Everything is denied that is not allowed below; if two rules match, the later one applies.
 */

import { findPins } from "./pins.ts";

export interface SeatbeltView {
  readonly root: string;
  readonly isWritable: boolean;
  readonly hasNetwork: boolean;
  /** Paths inside the workspace that must not be seen. */
  readonly hidden: readonly string[];
  /** Paths inside the workspace that must not change. */
  readonly readOnly: readonly string[];
  /** The command's own home and temporary folder. */
  readonly privateFolder: string;
  /** Folders of programs that are not the system's. */
  readonly programs: readonly string[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** The system's programs, libraries and settings. Keychains and other users' files are elsewhere. */
const SYSTEM = [
  "/usr",
  "/bin",
  "/sbin",
  "/System/Library",
  "/System/Volumes/Preboot/Cryptexes",
  "/Library/Apple",
  "/Library/Developer/CommandLineTools",
  "/Library/Frameworks",
  "/Applications/Xcode.app",
  "/opt/homebrew",
  "/private/etc/ssl",
  "/private/var/db/dyld",
  "/private/var/db/timezone",
  "/private/var/select",
];

const SETTINGS = [
  "/private/etc/hosts",
  "/private/etc/passwd",
  "/private/etc/group",
  "/private/etc/protocols",
  "/private/etc/services",
  "/private/etc/localtime",
  "/private/etc/resolv.conf",
];

const DEVICES = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty"];

export function seatbeltProfile(view: SeatbeltView): string {
  const { root, privateFolder, programs, reads, writes } = view;
  const writable = [privateFolder, ...writes, ...(view.isWritable ? [root] : [])];
  const readable = [...SYSTEM, ...programs, ...reads, root, privateFolder, ...writes];
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-exec process-fork)",
    // Only its own children can be signalled and inspected.
    "(allow signal process-info* (target same-sandbox))",
    "(allow sysctl-read)",
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    "(allow ipc-posix-sem)",
    // A path is resolved folder by folder, which needs only metadata.
    `(allow file-read-metadata ${ancestors(readable).map(literal).join(" ")})`,
    `(allow file-read* (literal "/") ${[...SETTINGS, ...DEVICES].map(literal).join(" ")})`,
    `(allow file-write-data ${DEVICES.map(literal).join(" ")})`,
    `(allow file-read* ${readable.map(subpath).join(" ")})`,
    `(allow file-write* ${writable.map(subpath).join(" ")})`,
    ...pinRules(view),
    ...view.readOnly.map((path) => `(deny file-write* ${subpath(path)})`),
    ...view.hidden.map((path) => `(deny file-read* file-write* ${subpath(path)})`),
    ...(view.hasNetwork
      ? [
          "(allow network*)",
          "(allow system-socket)",
          '(allow mach-lookup (global-name "com.apple.SecurityServer" "com.apple.trustd.agent" "com.apple.dnssd.service"))',
        ]
      : []),
    "",
  ].join("\n");
}

/** Renaming a folder would remove its covered path. */
function pinRules({ root, readOnly, hidden }: SeatbeltView): string[] {
  const pins = findPins(root, { readOnly, hidden });
  return pins.length === 0 ? [] : [`(deny file-write-unlink ${pins.map(literal).join(" ")})`];
}

function subpath(path: string): string {
  return `(subpath ${quote(path)})`;
}

function literal(path: string): string {
  return `(literal ${quote(path)})`;
}

/** A name with a quote in it must not end the text and add rules. */
function quote(path: string): string {
  return `"${path.replace(/["\\]/g, "\\$&")}"`;
}

/** Every folder above these paths, once. */
function ancestors(paths: readonly string[]): string[] {
  const found = new Set<string>(["/tmp", "/var", "/etc"]);
  for (const path of paths) {
    const names = path.split("/").slice(1, -1);
    names.forEach((_, index) => {
      found.add(`/${names.slice(0, index + 1).join("/")}`);
    });
  }
  return [...found];
}
