/**
 * Reads what the user gives a run as one message: files, then the prompt, then standard input.
 *
 * The type of a file is decided by its first bytes, not by its name. Everything is read and checked before anything
 * is sent.
 */

import { type FileHandle, open, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { ContentPart } from "../protocol/content.ts";
import type { Message } from "../protocol/items.ts";
import type { Io } from "./io.ts";

/** Four million tokens: more than any model's window. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;
/** The largest image or document a vendor takes. */
const MAX_MEDIA_BYTES = 32 * 1024 * 1024;

interface UserInput {
  /** The words after the command; `@FILE` among them is a file. */
  readonly words: readonly string[];
  readonly files: readonly string[];
  /** The template for the words, if one was named. */
  readonly template?: UserTemplate | undefined;
}

/** A prompt template with its variables. */
export interface UserTemplate {
  readonly name: string;
  /** True if its text has a place for the input. */
  readonly needsInput: boolean;
  /** Returns the prompt. Throws if a variable is missing. */
  fill(input: string): string;
}

export async function readUserMessage(
  { words, files, template }: UserInput,
  io: Io,
  clock: Clock = systemClock,
): Promise<Message> {
  const named = words.filter(isFileWord).map((word) => word.slice(1));
  if (words.includes(STDIN_WORD) && !io.stdin.isPiped) throw nothingPiped();
  const prompt = words.filter((word) => !isFileWord(word) && word !== STDIN_WORD).join(" ");
  const parts: ContentPart[] = [];
  for (const file of [...files, ...named]) parts.push(await readFilePart(file, io.cwd));
  const piped = io.stdin.isPiped ? await readPiped(io, clock) : "";
  if (template) {
    const asked = fillWith(template, { prompt, piped, named: [...files, ...named] });
    return { type: "message", role: "user", content: joinParts(parts, asked, "") };
  }
  if (prompt.trim() === "" && piped.trim() === "") throw emptyPrompt(parts.length > 0);
  return { type: "message", role: "user", content: joinParts(parts, prompt, piped) };
}

interface Given {
  readonly prompt: string;
  readonly piped: string;
  /** The files that come before the prompt. */
  readonly named: readonly string[];
}

/** The input is the words, then piped text; without either it is the names of the files. */
function fillWith(template: UserTemplate, { prompt, piped, named }: Given): string {
  const input = [prompt, piped].filter((text) => text.trim() !== "").join("\n\n");
  if (input !== "" || !template.needsInput) return template.fill(input);
  if (named.length > 0) return template.fill(named.join(", "));
  const { name } = template;
  const message = `The template \`${name}\` needs an input: words, @FILE or standard input after \`-t ${name}\`.`;
  throw new Failure("invalid_request", message);
}

/** Long enough for most commands before the pipe. After it, a notice says what the command waits for. */
const PATIENCE_MS = 2000;

/** A pipe that is neither written nor closed never ends: the wait must at least not be silent. */
export async function readPiped(
  { stdin, stderr }: Pick<Io, "stdin" | "stderr">,
  clock: Clock = systemClock,
): Promise<string> {
  const done = new AbortController();
  const hint = "offshoot: waiting for standard input to end; give `< /dev/null` if there is none\n";
  clock.sleep(PATIENCE_MS, done.signal).then(
    () => stderr.write(hint),
    () => {},
  );
  try {
    return toText(await stdin.readAll(MAX_TEXT_BYTES), "Standard input");
  } finally {
    done.abort();
  }
}

/** The word `-` for standard input, as in other programs. Piped text is read with or without it. */
const STDIN_WORD = "-";

function nothingPiped(): Failure {
  const message = "`-` stands for standard input, and nothing is piped in.";
  return new Failure("invalid_request", message);
}

function isFileWord(word: string): boolean {
  return word.length > 1 && word.startsWith("@") && !/\s/.test(word);
}

/**
 * Notes about files that are named inside a prompt in quotes: there `@FILE` is text, and the model may not know what
 * it stands for.
 */
export async function findFilesInPrompt(words: readonly string[], cwd: string): Promise<string[]> {
  const text = words.filter((word) => !isFileWord(word)).join(" ");
  const named = [...text.matchAll(/(?<=^|[\s(])@([\w./-]*\w)/g)].map(([, file = ""]) => file);
  const notes: string[] = [];
  for (const file of new Set(named)) {
    const isFile = await stat(resolve(cwd, file)).then(
      (found) => found.isFile(),
      () => false,
    );
    if (!isFile) continue;
    notes.push(
      `\`@${file}\` inside the prompt is text. To send the file, write it outside of the quotes.`,
    );
  }
  return notes;
}

function emptyPrompt(hasFiles: boolean): Failure {
  const what = hasFiles ? "There are files but no prompt." : "The prompt is empty.";
  return new Failure("invalid_request", `${what} Write it after the command: offshoot run "…"`);
}

/** Text becomes one part, in the order files, prompt, standard input; media come before it. */
function joinParts(files: readonly ContentPart[], prompt: string, piped: string): ContentPart[] {
  const media = files.filter((part) => part.type !== "input_text");
  const texts = files.flatMap((part) => (part.type === "input_text" ? [part.text] : []));
  const asked = joinAsked(prompt, piped, files.length > 0);
  const text = texts.length > 0 ? `${texts.join("\n\n")}\n\n---\n\n${asked}` : asked;
  return [...media, { type: "input_text", text }];
}

/**
 * After files, an empty prompt keeps its place: piped text must not be taken for an instruction.
 */
function joinAsked(prompt: string, piped: string, hasFiles: boolean): string {
  if (piped.trim() === "") return prompt;
  if (prompt.trim() !== "") return `${prompt}\n\n${piped}`;
  return hasFiles ? `\n\n${piped}` : piped;
}

/** Reads one file as the part it is: text, an image, or a PDF. */
export async function readFilePart(file: string, cwd: string): Promise<ContentPart> {
  const bytes = await readWhole(file, cwd);
  const name = basename(file);
  const image = imageTypeOf(bytes);
  if (image) {
    const image_url = `data:${image};base64,${bytes.toString("base64")}`;
    return { type: "input_image", image_url, detail: "auto" };
  }
  if (bytes.subarray(0, 5).toString("latin1") === "%PDF-") {
    const file_data = `data:application/pdf;base64,${bytes.toString("base64")}`;
    return { type: "input_file", filename: name, file_data };
  }
  if (bytes.length > MAX_TEXT_BYTES) throw tooLarge(file, MAX_TEXT_BYTES);
  return { type: "input_text", text: `--- ${file} ---\n${toText(bytes, `\`${file}\``).trimEnd()}` };
}

/** The text of a file such as a schema or instructions. */
export async function readTextFile(file: string, cwd: string): Promise<string> {
  return toText(await readWhole(file, cwd), `\`${file}\``);
}

async function readWhole(file: string, cwd: string): Promise<Buffer> {
  try {
    const handle = await open(resolve(cwd, file), "r");
    try {
      if ((await handle.stat()).isDirectory())
        throw invalid(`\`${file}\` is a directory. Name a file.`);
      return await readLimited(handle, file);
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    throw toReadFailure(thrown, file);
  }
}

/** Counted while reading: a pipe (`<(command)`) and a device have no size, and some no end. */
async function readLimited(handle: FileHandle, file: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of handle.createReadStream({ autoClose: false })) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes > MAX_MEDIA_BYTES) throw tooLarge(file, MAX_MEDIA_BYTES);
  }
  return Buffer.concat(pieces);
}

function toReadFailure(thrown: unknown, file: string): Failure {
  if (thrown instanceof Failure) return thrown;
  const { code = "", message = "" } = thrown as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new Failure("invalid_request", `There is no file \`${file}\`. Check the name.`);
  }
  if (code === "EISDIR") return invalid(`\`${file}\` is a directory. Name a file.`);
  if (code === "EACCES") return invalid(`\`${file}\` may not be read: permission denied.`);
  return new Failure("invalid_request", `\`${file}\` cannot be read: ${message}.`, {
    cause: thrown,
  });
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function toText(bytes: Buffer, what: string): string {
  try {
    const text = utf8.decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Not UTF-8: the message below says so.
  }
  throw invalid(`${what} is neither text (UTF-8), nor an image, nor a PDF.`);
}

function imageTypeOf(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 12).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  return head.startsWith("RIFF") && head.endsWith("WEBP") ? "image/webp" : undefined;
}

function tooLarge(file: string, maxBytes: number): Failure {
  return invalid(`\`${file}\` is larger than ${maxBytes / 1024 / 1024} MB. Give a part of it.`);
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
