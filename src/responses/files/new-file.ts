/**
 * Parses a client's description of a file that it sends: the fields of the form besides the bytes.
 */

import { z } from "zod";
import { isJsonObject } from "../../base/json.ts";
import { cutToChars } from "../../base/text.ts";
import { open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";

export interface NewFile {
  readonly filename: string;
  readonly purpose: string;
  /** Undefined for a file that stays until it is deleted. */
  readonly expiresAfterMs: number | undefined;
}

/** Purposes that clients may set, and those that a server sets itself. */
const PURPOSES = [
  ...["assistants", "batch", "fine-tune", "vision", "user_data", "evals"],
  ...["assistants_output", "batch_output", "fine-tune-results"],
] as const;

/** An hour to thirty days, as in the API. */
const MIN_SECONDS = 3600;
const MAX_SECONDS = 2_592_000;
const MAX_NAME_CHARS = 255;

export const NewFileFields = open({
  purpose: z.enum(PURPOSES),
  expires_after: open({
    anchor: z.enum(["created_at"]),
    seconds: z.int().min(MIN_SECONDS).max(MAX_SECONDS),
  })
    .nullable()
    .optional(),
});

/**
 * `fields` are those of the form by name; `expires_after[seconds]` is spelled as in a form, or is an object. Rejects
 * an invalid field by its name.
 */
export function parseNewFile(filename: string, fields: Readonly<Record<string, unknown>>): NewFile {
  const asked = parseAs(NewFileFields, nest(fields), "request");
  const seconds = asked.expires_after?.seconds;
  return {
    filename: toFilename(filename),
    purpose: asked.purpose,
    expiresAfterMs: seconds === undefined ? undefined : seconds * 1000,
  };
}

/** Forms have no objects and no numbers. */
function nest(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const given = fields["expires_after"];
  const { anchor, seconds } = isJsonObject(given)
    ? given
    : { anchor: fields["expires_after[anchor]"], seconds: fields["expires_after[seconds]"] };
  if (anchor === undefined && seconds === undefined) return fields;
  return { ...fields, expires_after: { anchor, seconds: toNumber(seconds) } };
}

function toNumber(value: unknown): unknown {
  return typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
}

/** The last step of a path, without characters that a terminal or a header would interpret. */
function toFilename(given: string): string {
  const name = given.replace(/^.*[/\\]/s, "").replace(/\p{Cc}/gu, "");
  const isNone = name === "" || name === "." || name === "..";
  return isNone ? "file" : cutToChars(name, MAX_NAME_CHARS);
}
