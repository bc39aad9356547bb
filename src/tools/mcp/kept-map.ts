/**
 * A small private file with one JSON object by server. Changes are made one after the other, each on the
 * file's content at that moment.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";

/** A file as text. Its creator makes sure that other users cannot read it. */
export interface KeptText {
  /** Undefined if there is no file. */
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}

export interface KeptMap {
  get(server: string): Promise<JsonObject | undefined>;
  /** Replaces a server's entry by the result of `change`; undefined removes it. */
  update(server: string, change: (kept: JsonObject) => JsonObject | undefined): Promise<void>;
}

/** `what` names the file in the message if it cannot be read. */
export function createKeptMap(file: KeptText, what: string): KeptMap {
  let last: Promise<unknown> = Promise.resolve();

  async function readAll(): Promise<JsonObject> {
    const text = await file.read();
    if (text === undefined) return {};
    const parsed = tryParseJson(text);
    const servers = isJsonObject(parsed) ? parsed["servers"] : undefined;
    if (isJsonObject(servers)) return servers;
    throw new Failure("invalid_request", `${what} cannot be read. Remove the file and try again.`);
  }

  async function rewrite(
    server: string,
    change: (kept: JsonObject) => JsonObject | undefined,
  ): Promise<void> {
    const all = await readAll();
    const old = toObject(all[server]);
    const kept = change(old ?? {});
    if (JSON.stringify(kept) === JSON.stringify(old)) return;
    const servers = { ...all, [server]: kept };
    await file.write(`${JSON.stringify({ servers }, null, 2)}\n`);
  }

  return {
    async get(server) {
      await last.catch(() => {});
      return toObject((await readAll())[server]);
    },
    update(server, change) {
      const next = last.catch(() => {}).then(() => rewrite(server, change));
      last = next;
      return next;
    },
  };
}

function toObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}
