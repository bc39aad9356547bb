/**
 * Makes a message of a person's words: files named after `@`, and pictures and PDFs named by their path, are
 * attached. A word that names no file stays a word.
 */

import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ContentPart } from "../../protocol/content.ts";
import type { Message } from "../../protocol/items.ts";
import type { Io } from "../io.ts";
import { readFilePart } from "../read-files.ts";

export interface TypedMessage {
  readonly message: Message;
  /** Notes about the attached files. */
  readonly notes: readonly string[];
}

const MEDIA = /\.(?:png|jpe?g|gif|webp|pdf)$/i;

/**
 * `before` is text that goes with the words and was not typed: the output of commands. Rejects if a file cannot be
 * attached: an answer to a question about a missing file would be useless.
 */
export async function readMessage(
  words: string,
  before: string,
  { cwd, home }: Pick<Io, "cwd" | "home">,
): Promise<TypedMessage> {
  const parts: ContentPart[] = [];
  const notes: string[] = [];
  for (const name of findNames(words)) {
    const path = name.startsWith("~/") ? join(home, name.slice(2)) : name;
    if (!(await isFile(resolve(cwd, path)))) continue;
    parts.push(await readFilePart(path, cwd));
    notes.push(`with ${name}`);
  }
  const media = parts.filter((part) => part.type !== "input_text");
  const texts = parts.flatMap((part) => (part.type === "input_text" ? [part.text] : []));
  const asked = [...texts, ...(before === "" ? [] : [before])];
  const text = asked.length > 0 ? `${asked.join("\n\n")}\n\n---\n\n${words}` : words;
  const content: ContentPart[] = [...media, { type: "input_text", text }];
  return { message: { type: "message", role: "user", content }, notes };
}

/**
 * `@src/a.ts`, `@"my notes.md"`, and paths of pictures as terminals paste them when they are dropped: in quotes, or
 * with `\ `.
 */
function findNames(words: string): Set<string> {
  const names = new Set<string>();
  const rest = words.replace(/(^|\s)@"([^"\n]+)"/g, (_, blank: string, name: string) => {
    names.add(name);
    return blank;
  });
  for (const [, word = ""] of rest.matchAll(/(?:^|\s)@(\S+)/g)) {
    names.add(word.replace(/[.,;:!?)]+$/, ""));
  }
  for (const [, single, double, bare = ""] of rest.matchAll(
    /(?:^|\s)(?:'([^'\n]+)'|"([^"\n]+)"|((?:\\ |[^\s'"\\])+))/g,
  )) {
    const name = single ?? double ?? bare.replaceAll("\\ ", " ");
    if (MEDIA.test(name) && !name.startsWith("@")) names.add(name);
  }
  return names;
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
