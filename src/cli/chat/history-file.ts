/**
 * Stores the history of prompts in the data folder, readable by the user alone: one line of JSON each. If it fails,
 * the chat continues without it.
 */

import { appendFile, mkdir, open, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Maximum length of one entry. A larger text is a file, not a prompt. */
const MAX_CHARS = 1_000_000;
/** The most that is read of a long history: its end. */
const MAX_BYTES = 8 * 1024 * 1024;

export async function readHistory(file: string): Promise<readonly string[]> {
  try {
    const { text, size } = await readEnd(file);
    const entries = text.split("\n").flatMap(toEntry);
    if (size > 2 * MAX_BYTES) await shorten(file, entries);
    return entries;
  } catch {
    // The file does not exist yet, or cannot be read.
    return [];
  }
}

/**
 * Shortens the file, so that it can grow again. An entry that another chat adds at this moment is lost in the file,
 * not in that chat.
 */
async function shorten(file: string, entries: readonly string[]): Promise<void> {
  const short = `${file}.${process.pid}`;
  await writeFile(short, entries.map(toLine).join(""), { mode: 0o600 });
  await rename(short, file);
}

async function readEnd(file: string): Promise<{ readonly text: string; readonly size: number }> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.min(size, MAX_BYTES));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, size - bytes.length);
    return { text: bytes.toString("utf8", 0, bytesRead), size };
  } finally {
    await handle.close();
  }
}

export async function appendHistory(file: string, text: string): Promise<void> {
  if (text.length > MAX_CHARS) return;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await appendFile(file, toLine(text), { mode: 0o600 });
  } catch {
    // A full disk, or a folder without write permission.
  }
}

function toLine(text: string): string {
  return `${JSON.stringify(text)}\n`;
}

function toEntry(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "string" ? [entry] : [];
  } catch {
    // The first line after the cut, or a line that was not written to its end.
    return [];
  }
}
