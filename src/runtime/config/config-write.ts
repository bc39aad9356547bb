/** Changes one setting in a configuration file, and nothing else of it: comments and order stay. */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { writePrivateFile } from "../private-file.ts";
import { standingOf, trust } from "../trust.ts";
import { parseConfigFile, readConfigFile } from "./config-file.ts";
import type { ConfigName } from "./config-keys.ts";
import { parseConfigText } from "./config-value.ts";
import { toCatalog } from "./config-vendors.ts";

export interface Change {
  readonly file: string;
  readonly name: ConfigName;
  /** The value as typed in a shell. */
  readonly text: string;
  readonly trustFile: string;
  /** The vendors of the settings, which the value may name. */
  readonly vendors?: JsonObject | undefined;
}

/**
 * Rejects, and leaves the file unchanged, when the value is invalid or the file was invalid before.
 * A file that was trusted stays so: the change is the user's own.
 */
export async function writeSetting(change: Change): Promise<{ readonly isTrusted: boolean }> {
  const { file, name, text, trustFile, vendors } = change;
  const value = parseConfigText(name, text, `\`${name}\``, toCatalog(vendors));
  const old = await readConfigFile(file, vendors);
  const isTrusted = old !== undefined && (await standingOf(trustFile, old)) === "trusted";
  const { parseDocument } = await import("yaml");
  const document = parseDocument(old?.bytes.toString("utf8") ?? "");
  document.set(name, value);
  // A width of 0 folds no line: a long text stays as it was typed.
  const written = document.toString({ lineWidth: 0 });
  await parseConfigFile(file, written, vendors);
  await save(file, written);
  if (isTrusted) await trust(trustFile, { path: file, bytes: Buffer.from(written) });
  return { isTrusted };
}

async function save(file: string, text: string): Promise<void> {
  try {
    await writePrivateFile(file, text);
  } catch (cause) {
    const { code = "unknown" } = cause as NodeJS.ErrnoException;
    throw new Failure("invalid_request", `${file} cannot be written (${code}).`, { cause });
  }
}
