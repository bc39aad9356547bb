/**
 * The words of a person as a message: files that `@` names, and pictures and PDFs that are named by their path, go along
 * as what they are. A word that names no file stays a word.
 */

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { toFailure } from "../../base/failure.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { Message } from "../../protocol/items.ts";
import { readFilePart } from "../input.ts";

export interface ReadMessage {
  readonly message: Message;
  /** What is said of it: files that go along, files that could not. */
  readonly notes: readonly string[];
}

const MEDIA = /\.(?:png|jpe?g|gif|webp|pdf)$/i;

/** `before` is what goes with the words, and was not typed: the output of commands. */
export async function readMessage(
  words: string,
  cwd: string,
  before: string,
): Promise<ReadMessage> {
  const parts: ContentPart[] = [];
  const notes: string[] = [];
  for (const name of findNames(words)) {
    if (!(await isFile(resolve(cwd, name)))) continue;
    try {
      parts.push(await readFilePart(name, cwd));
      notes.push(`with ${name}`);
    } catch (thrown) {
      notes.push(toFailure(thrown).message);
    }
  }
  const media = parts.filter((part) => part.type !== "input_text");
  const texts = parts.flatMap((part) => (part.type === "input_text" ? [part.text] : []));
  const asked = [...texts, ...(before === "" ? [] : [before])];
  const text = asked.length > 0 ? `${asked.join("\n\n")}\n\n---\n\n${words}` : words;
  const content: ContentPart[] = [...media, { type: "input_text", text }];
  return { message: { type: "message", role: "user", content }, notes };
}

/** `@src/a.ts`, and paths of pictures as terminals paste them when they are dropped: quoted, or with `\ `. */
function findNames(words: string): Set<string> {
  const names = new Set<string>();
  for (const [, word = ""] of words.matchAll(/(?:^|\s)@(\S+)/g)) {
    names.add(word.replace(/[.,;:!?)]+$/, ""));
  }
  for (const [, quoted, bare = ""] of words.matchAll(
    /(?:^|\s)(?:'([^'\n]+)'|((?:\\ |[^\s'\\])+))/g,
  )) {
    const name = quoted ?? bare.replaceAll("\\ ", " ");
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
