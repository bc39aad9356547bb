/**
 * Finds the vendor whose key is meant, and reads the key: typed without echo on the terminal, or piped in.
 */

import { Failure } from "../base/failure.ts";
import { clip, nearest } from "../base/text.ts";
import type { Catalog } from "../providers/vendors/catalog.ts";
import { VARIABLE_NAME } from "../runtime/auth/key-files.ts";
import type { Io } from "./io.ts";

export interface KeyOwner {
  readonly vendor: string;
  /** The variable that the stored key stands for. */
  readonly variable: string;
}

/** `name` is a vendor's name, or that of a variable as `api_key_name` names it. */
export function findKeyOwner(action: string, name: string | undefined, catalog: Catalog): KeyOwner {
  if (name === undefined) {
    throw invalid(`Write \`offshoot auth ${action} VENDOR\`, for example openai or anthropic.`);
  }
  if (catalog.has(name)) return ownerOf(name, catalog);
  if (VARIABLE_NAME.test(name) && /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(name)) {
    const vendor = catalog.names.find((one) => catalog.of(one).keyVariable === name);
    return { vendor: vendor ?? name, variable: name };
  }
  const guess = nearest(name, catalog.names);
  const hint = guess === undefined ? "" : ` Did you mean \`${guess}\`?`;
  // The word may be a key that was typed in the wrong place.
  const shown = name.length > 40 ? "" : ` \`${clip(name, 40)}\``;
  throw invalid(`Unknown vendor${shown}.${hint} \`offshoot models --all\` lists them.`);
}

function ownerOf(vendor: string, catalog: Catalog): KeyOwner {
  const { keyVariable, own } = catalog.of(vendor);
  if (keyVariable !== undefined) return { vendor, variable: keyVariable };
  const why = own
    ? `names no variable for one. Add \`api_key_name\` to it in the settings, any name you like`
    : "takes the credentials of this machine (docs/providers.md)";
  throw invalid(`\`${vendor}\` has no key to store: it ${why}.`);
}

/** Longer than any key, signed tokens included. */
const MAX_KEY_CHARS = 16_384;

export async function readKey({ vendor }: KeyOwner, io: Io): Promise<string> {
  if (io.stdin.isPiped) {
    return checkKey((await io.stdin.readAll(MAX_KEY_CHARS * 4)).toString("utf8"));
  }
  const terminal = io.openTerminal();
  if (!terminal) {
    throw invalid(
      `There is no terminal to type the key on. Pipe it in: \`offshoot auth set ${vendor} < FILE\`.`,
    );
  }
  const abort = new AbortController();
  const stopListening = io.onInterrupt(() => abort.abort());
  try {
    const typed = await terminal.askHidden(`Key of ${vendor} (it is not shown): `, abort.signal);
    if (typed === undefined)
      throw new Failure("cancelled", "No key was given; nothing was stored.");
    return checkKey(typed);
  } finally {
    stopListening();
  }
}

/**
 * Checks that the key fits into a header: one word of visible ASCII. No message contains any part of it.
 */
export function checkKey(text: string): string {
  const key = text.trim();
  if (key === "") throw invalid("The key is empty; nothing was stored.");
  if (key.length > MAX_KEY_CHARS) {
    throw invalid(`The key is longer than ${MAX_KEY_CHARS} characters; nothing was stored.`);
  }
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw invalid(
    "This is not a key: it has blanks, line breaks or letters outside ASCII. Nothing was stored.",
  );
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
