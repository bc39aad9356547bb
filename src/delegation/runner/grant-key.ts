/** The key that grants are signed with: one for each user and machine, made when it is first needed. */

import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Failure } from "../../base/failure.ts";

const KEY_BYTES = 32;

export async function openGrantKey(file: string): Promise<Buffer> {
  return (await readKey(file)) ?? (await makeKey(file));
}

async function readKey(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return undefined;
    throw unusable(file, thrown);
  });
  if (text === undefined) return undefined;
  const key = Buffer.from(text.trim(), "hex");
  if (key.length !== KEY_BYTES) throw unusable(file, undefined);
  return key;
}

/** Written aside and then linked, so that of two processes one makes it, whole, and both have the same. */
async function makeKey(file: string): Promise<Buffer> {
  const draft = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const text = `${randomBytes(KEY_BYTES).toString("hex")}\n`;
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await link(draft, file).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "EEXIST") throw thrown;
    });
  } catch (cause) {
    throw unusable(file, cause);
  } finally {
    await rm(draft, { force: true });
  }
  const key = await readKey(file);
  if (!key) throw unusable(file, undefined);
  return key;
}

function unusable(file: string, cause: unknown): Failure {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  const why = code === undefined ? "It holds no key" : `It cannot be used (${code})`;
  const advice = "Remove it, and a new one is made.";
  return new Failure("invalid_request", `${file}: ${why}. ${advice}`, { cause });
}
