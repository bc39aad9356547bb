/**
 * Makes one message of what the user gives a run: files, then the prompt, then standard input. Everything is read and
 * checked before anything is sent.
 */

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { ContentPart } from "../protocol/content.ts";
import type { Message } from "../protocol/items.ts";
import type { Io } from "./io.ts";

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
  const given = [...files, ...named];
  const parts = given.length > 0 ? await readParts(given, io.cwd) : [];
  const piped = io.stdin.isPiped ? await readPiped(io, clock) : "";
  if (template) {
    const asked = fillWith(template, { prompt, piped, named: given });
    return { type: "message", role: "user", content: joinParts(parts, asked, "") };
  }
  if (prompt.trim() === "" && piped.trim() === "") throw emptyPrompt(parts.length > 0);
  return { type: "message", role: "user", content: joinParts(parts, prompt, piped) };
}

/** The code that reads files is loaded with the first of them: most runs have none. */
async function readParts(files: readonly string[], cwd: string): Promise<ContentPart[]> {
  const parts: ContentPart[] = [];
  for (const file of files) {
    const { readFilePart } = await import("./read-files.ts");
    parts.push(await readFilePart(file, cwd));
  }
  return parts;
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
    const { MAX_TEXT_BYTES, toText } = await import("./read-files.ts");
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
