/** Implements `offshoot models pull`: fetches a GGUF model by name or URL into the directory of models. */

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { clip, nearest } from "../../base/text.ts";
import { type Download, type Downloaded, runDownload } from "./download.ts";
import { hashFile } from "./part-file.ts";
import { PULL_TABLE, type PullRow } from "./pull-table.ts";

export interface Pull
  extends Pick<Download, "transport" | "clock" | "random" | "signal" | "onProgress" | "onRetry"> {
  /** A name of the table, or an http or https URL that may end in `#sha256=…`. */
  readonly target: string;
  readonly directory: string;
  /** The checksum that the user gave. It wins over every other source. */
  readonly sha256: string | undefined;
}

export interface PulledModel extends Downloaded {
  readonly name: string;
  readonly path: string;
  /** True if the file was there before. */
  readonly isOld: boolean;
}

const MAGIC = "GGUF";

/** Rejects with a `Failure` that says what to do. A second call resumes an interrupted one. */
export async function pullModel(pull: Pull): Promise<PulledModel> {
  const { name, url, bytes, sha256 } = parseTarget(pull);
  const path = join(pull.directory, `${name}.gguf`);
  const old = await checkOld(path, { bytes, sha256 }, pull.signal);
  if (old) return { ...old, name, path, isOld: true };
  const { transport, clock, random, signal, onProgress, onRetry } = pull;
  const fetched = await runDownload({
    transport,
    clock,
    random,
    signal,
    onProgress,
    onRetry,
    url,
    path,
    bytes,
    sha256,
    magic: MAGIC,
  });
  return { ...fetched, name, path, isOld: false };
}

interface Target {
  readonly name: string;
  readonly url: string;
  readonly bytes: number | undefined;
  readonly sha256: string | undefined;
}

function parseTarget({ target, sha256 }: Pull): Target {
  const given = sha256 === undefined ? undefined : parseSha256(sha256);
  if (/^https?:/i.test(target)) return parseUrl(target, given);
  const table: Readonly<Record<string, PullRow>> = PULL_TABLE;
  const row = Object.hasOwn(table, target) ? table[target] : undefined;
  if (row) return { name: target, ...row, sha256: given ?? row.sha256 };
  const names = Object.keys(PULL_TABLE);
  const guess = nearest(target, names);
  const hint = guess === undefined ? "" : ` Did you mean \`${guess}\`?`;
  throw new Failure(
    "not_found",
    `There is no model \`${clip(target, 60)}\` to pull.${hint} Names: ${names.join(", ")}; or the URL of a GGUF file.`,
  );
}

function parseUrl(target: string, given: string | undefined): Target {
  if (!URL.canParse(target)) {
    throw new Failure("invalid_request", `\`${clip(target, 80)}\` is not a URL.`);
  }
  const url = new URL(target);
  const fragment = /^#sha256=(.*)$/.exec(url.hash)?.[1];
  url.hash = "";
  const sha256 = given ?? (fragment === undefined ? undefined : parseSha256(fragment));
  return { name: toName(url), url: url.href, bytes: undefined, sha256 };
}

/** The name of the file in the URL, made safe for every disk. */
function toName(url: URL): string {
  const last = url.pathname.split("/").at(-1) ?? "";
  const name = last
    .replace(/\.gguf$/i, "")
    .replace(/%[0-9a-f]{2}/gi, "-")
    .replace(/[^A-Za-z0-9._-]/g, "-")
    .replace(/^[.-]+/, "");
  if (name !== "") return name;
  throw new Failure(
    "invalid_request",
    `\`${clip(url.href, 80)}\` names no file. Give the URL of the GGUF file itself.`,
  );
}

function parseSha256(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new Failure(
    "invalid_request",
    `\`${clip(text, 80)}\` is not a SHA-256 checksum, which has 64 hexadecimal digits.`,
    { param: "sha256" },
  );
}

/** Checks a file of that name that is already there. A file with other content is not changed. */
async function checkOld(
  path: string,
  { bytes, sha256 }: Pick<Target, "bytes" | "sha256">,
  signal: AbortSignal,
): Promise<Downloaded | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return undefined;
  const actual = await hashFile(path, signal);
  const isSame = bytes === undefined || bytes === found.size;
  if (isSame && (sha256 === undefined || sha256 === actual)) {
    return { bytes: found.size, sha256: actual, isVerified: sha256 !== undefined };
  }
  throw new Failure(
    "conflict",
    `\`${path}\` already exists and is another file. Move it away or delete it, then try again.`,
  );
}
