/**
 * Requests to Google Cloud, signed with the machine's credentials (Application Default Credentials): a key
 * file, a person's login, a workload identity, a metadata server.
 *
 * One signature function is one set of credentials. They are found once. All requests share their token,
 * and it is fetched again some minutes before it expires. The library is loaded with the first request.
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { throwIfAborted, toAbortFailure } from "../../base/async.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { CloudSign } from "../http/http-provider.ts";

type Env = Readonly<Record<string, string | undefined>>;
type Headers = Readonly<Record<string, string>>;
type GoogleLibrary = typeof import("google-auth-library");

/**
 * Creates a signature function. When called, it rejects with `key_missing` and the places that were tried,
 * or with the reason why Google refused.
 */
export function createGoogleSign(env: Env, clock: Clock = systemClock): CloudSign {
  let opened: Promise<Credentials> | undefined;
  return async ({ url, signal }) => {
    throwIfAborted(signal);
    opened ??= openCredentials(env, clock).catch((thrown) => {
      // The next request tries again, because the user may log in after a failure.
      opened = undefined;
      throw thrown;
    });
    const credentials = await orAborted(opened, signal);
    return orAborted(
      credentials.headers(url).catch((thrown) => {
        throw toSignFailure(credentials, thrown);
      }),
      signal,
    );
  };
}

interface Credentials {
  /** The source for people: a file or an address. */
  readonly source: string;
  headers(url: string): Promise<Headers>;
}

const SCOPES = ["https://www.googleapis.com/auth/cloud-platform"];
const LOGIN = "gcloud auth application-default login";

async function openCredentials(env: Env, clock: Clock): Promise<Credentials> {
  const named = env["GOOGLE_APPLICATION_CREDENTIALS"]?.trim();
  if (named) return openFile(named, await readCredentials(named, "required"));
  const usual = usualFile(env);
  const json = usual && (await readCredentials(usual, "optional"));
  if (usual && json) return openFile(usual, json);
  return openMetadata(env, clock, usual);
}

/** The file in which `gcloud` stores a person's login; undefined without a home folder. */
function usualFile(env: Env): string | undefined {
  const home = env["HOME"] && join(env["HOME"], ".config", "gcloud");
  const folder =
    env["CLOUDSDK_CONFIG"] || (env["APPDATA"] && join(env["APPDATA"], "gcloud")) || home;
  return folder && join(folder, "application_default_credentials.json");
}

async function readCredentials(
  path: string,
  need: "required" | "optional",
): Promise<JsonObject | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (need === "optional") return undefined;
    const message = `\`GOOGLE_APPLICATION_CREDENTIALS\` names \`${path}\`, which cannot be read.`;
    throw new Failure("key_missing", `${message} Fix the path, or unset it and run \`${LOGIN}\`.`, {
      cause,
    });
  }
  const json = parseJson(text, `The credentials file \`${path}\``);
  if (isJsonObject(json)) return json;
  throw new Failure(
    "invalid_request",
    `The credentials file \`${path}\` does not contain a JSON object.`,
  );
}

async function openFile(path: string, json: JsonObject | undefined): Promise<Credentials> {
  const library = await import("google-auth-library");
  try {
    const auth = new library.GoogleAuth({ scopes: SCOPES });
    const client = auth.fromJSON(json as never, clientOptions(library, json ?? {}) as never);
    return {
      source: `\`${path}\``,
      headers: async (url) => Object.fromEntries(await client.getRequestHeaders(url)),
    };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The credentials file \`${path}\` cannot be used: ${clip(reason, 200)}`;
    throw new Failure("invalid_request", message, { cause });
  }
}

const GOOGLE_TOKEN_URL = "https://oauth2.googleapis.com/token";

/**
 * The library asks Google's own address for tokens, whatever the file says; a private cloud has another
 * one.
 */
function clientOptions({ gaxios }: GoogleLibrary, json: JsonObject): object {
  const tokenUrl = json["token_uri"];
  if (typeof tokenUrl !== "string" || tokenUrl === GOOGLE_TOKEN_URL) return {};
  const transporter = new gaxios.Gaxios();
  transporter.interceptors.request.add({
    resolved: async (config) =>
      String(config.url) === GOOGLE_TOKEN_URL ? { ...config, url: new URL(tokenUrl) } : config,
  });
  return { transporter, additionalClaims: { aud: tokenUrl } };
}

const METADATA_HOST = "169.254.169.254";
/** Long enough for a busy machine. Outside the cloud nothing answers. */
const METADATA_TIMEOUT_MS = 3000;
/** The server returns the same token until about four minutes before it expires. */
const METADATA_EARLY_MS = 225_000;

interface Token {
  readonly header: Headers;
  readonly expiresAt: number;
}

/** Asks for a first token at once, because only that shows whether there is such a server. */
async function openMetadata(
  env: Env,
  clock: Clock,
  usual: string | undefined,
): Promise<Credentials> {
  const host = env["GCE_METADATA_HOST"] || env["GCE_METADATA_IP"] || METADATA_HOST;
  const library = await import("google-auth-library");
  let token: Token;
  try {
    token = await fetchToken(library, host, clock);
  } catch (cause) {
    const file = usual ? `\`${usual}\` does not exist` : "there is no home folder";
    throw new Failure(
      "key_missing",
      `No Google Cloud credentials: \`GOOGLE_APPLICATION_CREDENTIALS\` is not set, ${file}, ` +
        `and no metadata server answers at \`${host}\`. Run \`${LOGIN}\`, or name a key file.`,
      { cause },
    );
  }
  let under: Promise<Token> | undefined;
  return {
    source: `the metadata server at \`${host}\``,
    async headers() {
      if (token.expiresAt - METADATA_EARLY_MS > clock.now()) return token.header;
      under ??= fetchToken(library, host, clock).finally(() => {
        under = undefined;
      });
      token = await under;
      return token.header;
    },
  };
}

async function fetchToken({ gaxios }: GoogleLibrary, host: string, clock: Clock): Promise<Token> {
  const { data } = await new gaxios.Gaxios().request<{ access_token: string; expires_in: number }>({
    url: `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`,
    headers: { "metadata-flavor": "Google" },
    timeout: METADATA_TIMEOUT_MS,
    responseType: "json",
    // A proxy is for other networks; this address is the machine's own.
    noProxy: [host],
  });
  const header = { authorization: `Bearer ${data.access_token}` };
  return { header, expiresAt: clock.now() + data.expires_in * 1000 };
}

function toSignFailure({ source }: Credentials, thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  const { status, response, message } = thrown as {
    status?: number;
    response?: { status?: number };
    message?: string;
  };
  const answered = status ?? response?.status;
  const reason = clip(message ?? String(thrown), 200);
  if (answered !== undefined && answered >= 400 && answered < 500) {
    return new Failure(
      "provider_unauthorized",
      `Google refused the credentials of ${source}: ${reason}. Run \`${LOGIN}\`, or use another key.`,
      { cause: thrown },
    );
  }
  const text = `No token from Google for the credentials of ${source}: ${reason}.`;
  return new Failure("provider_unreachable", text, { cause: thrown });
}

/** The library does not take a signal. The caller stops waiting, and the next call gets the token. */
function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(toAbortFailure(signal));
    signal.addEventListener("abort", leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
