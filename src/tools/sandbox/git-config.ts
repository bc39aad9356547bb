/**
 * Reads git's settings files without git: asking git would start a program for each command, and it says
 * nothing about a repository of another owner. Includes are followed whatever their condition, because a
 * condition may become true later.
 */

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export interface Setting {
  /** `section.key` or `section.name.key`; section and key in lower case. */
  readonly key: string;
  readonly value: string;
}

export interface GitConfig {
  readonly settings: readonly Setting[];
  /** Files that includes name, whether they exist or not. */
  readonly included: readonly string[];
}

/** Git itself stops at ten. */
const MAX_DEPTH = 10;

/** A repository that a command has made may name any number. */
const MAX_FILES = 100;
const MAX_BYTES = 1024 * 1024;

/** The settings of those of these files that exist, and of the files that they include. */
export function readGitConfig(files: readonly string[], home: string | undefined): GitConfig {
  const settings: Setting[] = [];
  const included = new Set<string>();
  const read = (file: string, depth: number): void => {
    for (const one of parseGitConfig(readText(file) ?? "")) {
      settings.push(one);
      if (!/^include(?:if\..*)?\.path$/s.test(one.key)) continue;
      const path = resolve(dirname(file), expandHome(one.value, home));
      const isKnown = included.has(path);
      included.add(path);
      if (!isKnown && depth < MAX_DEPTH && included.size <= MAX_FILES) read(path, depth + 1);
    }
  };
  for (const file of files) read(file, 0);
  return { settings, included: [...included] };
}

export function expandHome(path: string, home: string | undefined): string {
  return path.startsWith("~/") && home !== undefined ? join(home, path.slice(2)) : path;
}

/** Lenient: a line that git would refuse is skipped, and the rest is read. */
export function parseGitConfig(text: string): Setting[] {
  const found: Setting[] = [];
  let section = "";
  for (const line of text.replace(/\r\n/g, "\n").replace(/\\\n/g, "").split("\n")) {
    let rest = line.trim();
    const header = /^\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]/.exec(rest);
    if (header) {
      const [whole, name = "", part] = header;
      const below = part === undefined ? "" : `.${part.replace(/\\(.)/g, "$1")}`;
      section = `${name.toLowerCase()}${below}`;
      rest = rest.slice(whole.length).trim();
    }
    const setting = /^([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(rest);
    if (!setting) continue;
    const [, key = "", value = ""] = setting;
    found.push({ key: `${section}.${key.toLowerCase()}`, value: toValue(value) });
  }
  return found;
}

/** The value without quotes and without the comment after it. */
function toValue(text: string): string {
  let value = "";
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"') isQuoted = !isQuoted;
    else if (char === "\\") value += text.charAt(++at);
    else if (!isQuoted && (char === "#" || char === ";")) break;
    else value += char;
  }
  return value.trim();
}

/** Undefined if it is not a file. A command may have put a pipe there, on which a reader would wait. */
export function readText(file: string): string | undefined {
  return readBytes(file, MAX_BYTES)?.toString("utf8");
}

export function readBytes(file: string, maxBytes: number): Buffer | undefined {
  try {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(descriptor);
      return stats.isFile() && stats.size <= maxBytes ? readFileSync(descriptor) : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Missing, or not readable for us: then git does not obey it either.
    return undefined;
  }
}
