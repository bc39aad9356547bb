/**
 * `offshoot ui --server URL`: signs in to the console of another server with a key that the page never sees.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, tryParseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { MODEL_TIMEOUTS } from "../../providers/http/timeouts.ts";
import { createNetwork } from "../../runtime/network.ts";
import type { Io } from "../io.ts";

/** The variable with the key of a server, for the server and for those who sign in to it. */
const KEY_VARIABLE = "OFFSHOOT_SERVER_KEY";
const MAX_ANSWER_BYTES = 64 * 1024;

/** The address of the page with a code that works once, within a minute. */
export async function toRemoteAddress(server: string, io: Io): Promise<string> {
  const base = parseServer(server);
  const code = await askForCode(base, await readServerKey(io), io);
  return `${base}/console/#code=${code}`;
}

/** A key is not sent unencrypted: only over HTTPS, or to this machine. */
export function parseServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    const shown = clip(text, 80);
    throw refuse(`\`--server\` is \`${shown}\`. Use an address as https://llm.example.com.`);
  }
  if (url.protocol === "http:" && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname)) {
    throw refuse(
      `\`--server\` is ${clip(url.origin, 80)}, which is not HTTPS: others could read the key.`,
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, "").replace(/\/(v1|console)$/, "");
}

async function readServerKey(io: Io): Promise<string> {
  const set = io.env[KEY_VARIABLE]?.trim();
  if (set) return set;
  if (io.stdin.isPiped) return (await io.stdin.readAll(MAX_ANSWER_BYTES)).toString("utf8").trim();
  const terminal = io.openTerminal();
  if (!terminal) {
    throw refuse(
      `There is no terminal to type the key on. Pipe it in, or set \`${KEY_VARIABLE}\`.`,
    );
  }
  const abort = new AbortController();
  const stopListening = io.onInterrupt(() => abort.abort());
  try {
    const typed = await terminal.askHidden("Key of the server (it is not shown): ", abort.signal);
    if (typed) return typed.trim();
    throw new Failure("cancelled", "No key was given.");
  } finally {
    stopListening();
  }
}

async function askForCode(base: string, key: string, { env }: Pick<Io, "env">): Promise<string> {
  const network = createNetwork(env);
  try {
    const transport = await network.open();
    const answer = await transport.send({
      method: "POST",
      url: `${base}/v1/console/codes`,
      body: "{}",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      signal: new AbortController().signal,
      timeouts: MODEL_TIMEOUTS,
    });
    const body = tryParseJson(await answer.text(MAX_ANSWER_BYTES));
    const { code, error } = isJsonObject(body) ? body : {};
    if (answer.status === 200 && typeof code === "string") return code;
    const why = isJsonObject(error) ? error["message"] : undefined;
    const said = typeof why === "string" ? clip(why, 300) : "It may not be an Offshoot server.";
    throw refuse(`${base} answered ${answer.status}: ${said}`);
  } finally {
    await network.close();
  }
}

function refuse(message: string): Failure {
  return new Failure("invalid_request", message);
}
