/** Keeps the history of prompts in the data folder, for the user alone: a line of JSON each. What fails here stops nobody. */

import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Of one entry: a larger one is a file. */
const MAX_CHARS = 200_000;
const MAX_BYTES = 8 * 1024 * 1024;

export async function readHistory(file: string): Promise<readonly string[]> {
  try {
    const text = await readFile(file, "utf8");
    return text.slice(-MAX_BYTES).split("\n").flatMap(toEntry);
  } catch {
    // There is none yet, or it cannot be read.
    return [];
  }
}

export async function appendHistory(file: string, text: string): Promise<void> {
  if (text.length > MAX_CHARS) return;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await appendFile(file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
  } catch {
    // The chat goes on without it.
  }
}

function toEntry(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "string" ? [entry] : [];
  } catch {
    // The first line of what was cut, or one that was not written to its end.
    return [];
  }
}
