/**
 * The paths that the words of a command may name, resolved like the system would: through every link on the
 * way, even if the last names do not exist yet. Only the program knows which words are paths, so every word
 * counts as one.
 */

import { isAbsolute, join, resolve } from "node:path";
import { toFailure } from "../../base/failure.ts";
import { findRelative } from "../workspace/resolve-inside.ts";
import type { Workspace } from "../workspace/workspace.ts";

export interface CommandPlaces {
  /** Relative to the workspace: as written, and where they really lead. */
  readonly paths: readonly string[];
  /** True if a path leads out of the workspace, or to a protected file in it. */
  readonly leadOut: boolean;
  /** True if every word was resolved. */
  readonly isWhole: boolean;
}

/** More words than a person writes. */
const MAX_PLACES = 1000;

/** `folder` is where the command is started, relative to the workspace. */
export async function findPlaces(
  words: readonly string[],
  folder: string,
  workspace: Workspace,
): Promise<CommandPlaces> {
  const names = [...new Set(words.flatMap(toNames))];
  const paths = new Set<string>();
  let leadOut = false;
  for (const name of names.slice(0, MAX_PLACES)) {
    for (const way of toWays(name, folder, workspace)) {
      const { path, isOut } = await follow(way, workspace);
      leadOut ||= isOut;
      if (path !== undefined) paths.add(path);
    }
    leadOut ||= name.startsWith("~");
  }
  for (const name of names) {
    const written = findRelative(workspace.root, resolve(workspace.root, folder, name));
    if (written === undefined) leadOut = true;
    else paths.add(written);
  }
  return { paths: [...paths], leadOut, isWhole: names.length <= MAX_PLACES };
}

/** The most letters of options in one word, before the value of the last one. */
const MAX_LETTERS = 6;

/**
 * The paths that a word may contain: the word if it is not an option, the value after letters (`-xCdocs`),
 * the value in `--name=value` and `name=value`, and the file in `@file`.
 */
function toNames(word: string): string[] {
  const starts = word.startsWith("-") ? toAttached(word) : [word];
  const values = [word, ...starts].flatMap((text) => /^-{0,2}[\w.-]+=(.*)$/s.exec(text)?.[1] ?? []);
  const names = [...starts, ...values];
  const files = names.flatMap((name) => (/^@[^~]/.test(name) ? [name.slice(1)] : []));
  return [...names, ...files].filter((name) => name !== "");
}

function toAttached(option: string): string[] {
  const [letters = ""] = /^\w*/.exec(option.slice(1)) ?? [];
  const length = Math.min(letters.length, MAX_LETTERS);
  return Array.from({ length }, (_, at) => option.slice(at + 2));
}

/** Some programs shorten `a/..` before they open a path, and others leave that to the system. */
function toWays(name: string, folder: string, { root }: Workspace): string[] {
  const short = resolve(root, folder, name);
  if (!/(?:^|[\\/])\.\.(?:[\\/]|$)/.test(name)) return [short];
  return [short, isAbsolute(name) ? name : `${join(root, folder)}/${name}`];
}

interface Followed {
  readonly path: string | undefined;
  readonly isOut: boolean;
}

async function follow(way: string, workspace: Workspace): Promise<Followed> {
  try {
    return { path: (await workspace.follow(way)).relative, isOut: false };
  } catch (thrown) {
    // A path that cannot exist (a name too long, a file used as a folder) is skipped.
    return { path: undefined, isOut: toFailure(thrown).code === "forbidden" };
  }
}
