/**
 * How a request to AWS is authorized: with a Bedrock key as a bearer token, or with a signature (SigV4) by
 * the credentials that AWS's own chain finds: environment, profile, SSO, web identity, process, container,
 * instance.
 *
 * The vendor's code is imported for the first request that needs it: 28 ms for the signature, 7 ms for the
 * chain. Credentials are kept, and fetched again before they expire.
 */

import { createHash, createHmac } from "node:crypto";
import { throwIfAborted, toAbortFailure } from "../../base/async.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { createSlices } from "../../base/slices.ts";
import { keyIn } from "../../base/stored-keys.ts";
import { clip } from "../../base/text.ts";
import type { CloudSign, UnsignedRequest } from "../http/http-provider.ts";
import { regionOfUrl, requireAwsRegion } from "./aws-region.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface AwsSignOptions {
  /**
   * The region in the user's settings. If undefined, the one in the address, or else the one in the
   * environment.
   */
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
  readonly clock?: Clock;
  /** Replaces AWS's own chain in tests. */
  readonly credentials?: () => Promise<AwsCredentials>;
}

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly expiration?: Date | undefined;
}

/** Long enough for a request to arrive before its signature's credentials expire. */
const REFRESH_BEFORE_MS = 5 * 60_000;

/**
 * Creates the signature function for all requests of a process that use the same identity. It owns the
 * credentials.
 */
export function createAwsSign(env: Environment, options: AwsSignOptions = {}): CloudSign {
  const bearer = keyIn(env, "AWS_BEARER_TOKEN_BEDROCK");
  if (bearer) return async () => ({ authorization: `Bearer ${bearer}` });
  const credentials = keepCredentials(options.credentials ?? openChain(env, options), options);
  const { clock = systemClock } = options;
  return async (unsigned) => {
    // A region in the settings is for every address; next comes the region that the address names.
    const region = options.region ?? regionOfUrl(unsigned.url) ?? requireAwsRegion(env, options);
    const held = await orAborted(credentials(), unsigned.signal);
    return await signRequest(unsigned, { region, credentials: held, now: new Date(clock.now()) });
  };
}

type Fetch = () => Promise<AwsCredentials>;

/** Fetches credentials once for all waiting requests. After a failed fetch the next request tries again. */
function keepCredentials(fetchNew: Fetch, { clock = systemClock }: AwsSignOptions): Fetch {
  let current: Promise<AwsCredentials> | undefined;
  const isFresh = ({ expiration }: AwsCredentials): boolean =>
    expiration === undefined || expiration.getTime() - REFRESH_BEFORE_MS > clock.now();

  return async () => {
    const asked = current;
    const known = await asked?.catch(() => undefined);
    if (known && isFresh(known)) return known;
    // The first request that stopped waiting may have started a new fetch already.
    if (current === asked) current = fetchNew();
    return (await current) as AwsCredentials;
  };
}

/** AWS's own chain. A named profile wins over keys in the environment, as in AWS's own tools. */
function openChain(env: Environment, { profile = env["AWS_PROFILE"] }: AwsSignOptions): Fetch {
  const known = profile ? undefined : keysIn(env);
  if (known) return async () => known;
  let chain: Fetch | undefined;
  return async () => {
    chain ??= await importChain(env, profile);
    try {
      return await chain();
    } catch (cause) {
      throw toMissing(env, profile, cause);
    }
  };
}

function keysIn(env: Environment): AwsCredentials | undefined {
  const accessKeyId = env["AWS_ACCESS_KEY_ID"]?.trim();
  const secretAccessKey = env["AWS_SECRET_ACCESS_KEY"]?.trim();
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: env["AWS_SESSION_TOKEN"]?.trim() };
}

async function importChain(env: Environment, profile: string | undefined): Promise<Fetch> {
  const { defaultProvider } = await import("@aws-sdk/credential-provider-node");
  const filepath = env["AWS_SHARED_CREDENTIALS_FILE"];
  const configFilepath = env["AWS_CONFIG_FILE"];
  const provider = defaultProvider({
    ...(profile && { profile }),
    ...(filepath && { filepath }),
    ...(configFilepath && { configFilepath }),
    // Read the files again: another program may have refreshed the credentials in them.
    ignoreCache: true,
    // Warnings of the SDK would go to the terminal.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  return () => provider({ forceRefresh: true });
}

function toMissing(env: Environment, profile: string | undefined, cause: unknown): Failure {
  const files = [
    env["AWS_SHARED_CREDENTIALS_FILE"] ?? "~/.aws/credentials",
    env["AWS_CONFIG_FILE"] ?? "~/.aws/config",
  ];
  const looked = [
    "`AWS_BEARER_TOKEN_BEDROCK`",
    "`AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`",
    `the profile \`${profile ?? "default"}\` in ${files.join(" and ")}`,
    "`AWS_WEB_IDENTITY_TOKEN_FILE`",
    "`AWS_CONTAINER_CREDENTIALS_FULL_URI`",
    "the instance's metadata",
  ].join(", ");
  const said = cause instanceof Error ? clip(cause.message, 200) : "";
  const reason = said === "" ? "" : ` AWS's own code says: ${said}`;
  return new Failure("key_missing", `No AWS credentials. Looked at ${looked}.${reason}`, { cause });
}

interface Signing {
  readonly region: string;
  readonly credentials: AwsCredentials;
  readonly now: Date;
}

/**
 * Signs a request. The signature covers the host, the content type and the headers that it adds: nothing
 * that a proxy may change.
 */
async function signRequest(
  { method, url, headers, body, owner }: UnsignedRequest,
  { region, credentials, now }: Signing,
): Promise<Readonly<Record<string, string>>> {
  const { SignatureV4 } = await import("@smithy/signature-v4");
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const signer = new SignatureV4({
    service: "bedrock",
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
    sha256: Sha256,
  });
  const { protocol, host, hostname, pathname } = new URL(url);
  const signable: Record<string, string> = {
    host,
    "content-type": headers["content-type"] ?? "application/json",
  };
  // The signer hashes a body in one go, so it gets the hash of a large body instead.
  if (typeof body !== "string") signable["x-amz-content-sha256"] = await hashPieces(body, owner);
  const path = pathname;
  const request = { method, protocol, hostname, path, headers: signable, body: "" };
  if (typeof body === "string") request.body = body;
  const signed = await signer.sign(request, { signingDate: now });
  const { host: _, ...added } = signed.headers;
  return added;
}

async function hashPieces(pieces: readonly Uint8Array[], owner = ""): Promise<string> {
  const hash = createHash("sha256");
  const slices = createSlices(owner);
  for (const piece of pieces) {
    if (slices.isOver()) await slices.next();
    hash.update(piece);
  }
  return hash.digest("hex");
}

type Bytes = string | ArrayBuffer | ArrayBufferView;

/** The runtime's hash in the interface that the signer expects. */
class Sha256 {
  readonly #hash: { update(data: string | Buffer): unknown; digest(): Buffer };

  constructor(secret?: Bytes) {
    this.#hash =
      secret === undefined ? createHash("sha256") : createHmac("sha256", toBuffer(secret));
  }

  update(data: Bytes): void {
    this.#hash.update(toBuffer(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

function toBuffer(data: Bytes): Buffer {
  if (typeof data === "string") return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
}

/** Stops waiting when the signal aborts: metadata services may be slow. */
async function orAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  throwIfAborted(signal);
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(toAbortFailure(signal));
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([value, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
