/**
 * A provider over HTTP for a vendor: its row, its wire, who pays, and the limiter all runs of this
 * account share. The one place where keys are read.
 */

import { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { createRedact, findSecrets } from "../base/redact.ts";
import type { RetryPolicy } from "../base/retry.ts";
import type { GgufLibrary } from "../providers/gguf/library.ts";
import type { Sign } from "../providers/http/http-provider.ts";
import type { OwnFields } from "../providers/http/own-fields.ts";
import type { Timeouts, Transport } from "../providers/http/transport.ts";
import type { Limiters } from "../providers/limits/limiters.ts";
import { keyVariableIn } from "../providers/models/choose-model.ts";
import type { ModelOverride } from "../providers/models/models.ts";
import type { ModelRequest, Provider } from "../providers/provider.ts";
import { baseForWire, baseUrlOf } from "../providers/vendors/base-url.ts";
import { isVendor, type Vendor, type VendorName, vendorOf } from "../providers/vendors/catalog.ts";
import { wireFor } from "../providers/vendors/provider-names.ts";
import type { Quirks } from "../providers/wire.ts";
import { loadWire } from "../providers/wires.ts";
import { VERSION } from "../version.ts";

/** The part of a task that says which model is meant. */
export interface ModelWish {
  readonly model: string;
  readonly provider: string | null;
  readonly url: string | null;
  readonly api_key_name: string | null;
  readonly think: boolean;
}

export interface ModelParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened when the first request needs it. */
  readonly transport: () => Promise<Transport>;
  readonly overrides?: readonly ModelOverride[] | undefined;
  readonly timeouts?: Timeouts | undefined;
  readonly retry?: RetryPolicy | undefined;
  readonly quirks?: Quirks | undefined;
  /** Fields of the vendor's own for every model, over those of the model's row. */
  readonly options?: JsonObject | undefined;
  readonly log?: Log | undefined;
  /** Those of the process unless given. */
  readonly limiters?: Limiters | undefined;
  /** The GGUF models in this process; opened when the first run needs one. */
  readonly gguf?: (() => Promise<GgufLibrary>) | undefined;
}

type Environment = ModelParts["env"];

type Prepare = (request: ModelRequest) => { request: ModelRequest; dropped: readonly string[] };

export async function openHttpProvider(
  name: VendorName,
  wish: ModelWish,
  { prepare, own, ...parts }: ModelParts & { readonly prepare: Prepare; readonly own: OwnFields },
): Promise<Provider> {
  const vendor = vendorOf(name);
  const wire = wireFor(name, wish.provider ?? undefined);
  const baseUrl = baseForWire(name, wire, await addressOf(name, wish, parts.env));
  const key = keyFor(name, wish, parts.env);
  const headers = fillHeaders(own.headers, parts.env);
  const [{ createHttpProvider }, { limitProvider, ONE_TRY, watchTransport }, limiters] =
    await Promise.all([
      import("../providers/http/http-provider.ts"),
      import("../providers/limits/limited-provider.ts"),
      parts.limiters ??
        import("../providers/limits/limiters.ts").then((all) => all.processLimiters),
    ]);
  const limiter = limiters.of({ vendor: name, baseUrl, key: key ?? payerOf(parts.env) });
  const provider = createHttpProvider({
    vendor: name,
    wire: await loadWire(wire),
    baseUrl,
    headers: { "user-agent": `offshoot/${VERSION}`, ...vendor.headers, ...headers },
    own: own.options,
    sign: await openSign(vendor, key, parts.env),
    quirks: { ...vendor.quirks, ...parts.quirks },
    transport: watchTransport(await parts.transport(), limiter),
    prepare,
    // Its variable may have a name that says nothing of a key.
    redact: createRedact([...findSecrets(parts.env), key ?? "", ...Object.values(headers)]),
    // Tried again outside of it, where a call that waits holds no slot.
    retry: ONE_TRY,
    ...(parts.timeouts ? { timeouts: parts.timeouts } : {}),
    ...(parts.log ? { log: parts.log } : {}),
  });
  const limited = limitProvider(provider, limiter, { retry: parts.retry, log: parts.log });
  if (name !== "llamacpp") return limited;
  const { waitForServer } = await import("../providers/llamacpp/server.ts");
  return waitForServer(limited, { transport: await parts.transport(), baseUrl });
}

/** What a request to a server at an address of the settings is signed with, where it is a key alone. */
export function keyHeadersOf(
  server: { readonly vendor: string; readonly url: string; readonly api_key_name: string | null },
  env: Environment,
): Record<string, string> {
  const { vendor, url, api_key_name } = server;
  if (!isVendor(vendor)) return {};
  const wish = { model: "", provider: null, url, api_key_name, think: false };
  return keyHeaders(vendorOf(vendor).auth, keyFor(vendor, wish, env));
}

function keyFor(name: VendorName, wish: ModelWish, env: Environment): string | undefined {
  const { keyVariable, otherKeyVariables = [], keyUrl, local } = vendorOf(name);
  const variable = wish.api_key_name ?? keyVariableIn(name, env);
  const key = variable ? env[variable]?.trim() : undefined;
  if (key) return key;
  if (wish.api_key_name) {
    throw new Failure(
      "key_missing",
      `The variable \`${wish.api_key_name}\` is not set. Put the key there.`,
    );
  }
  // An address of the user's own may need no key; a vendor's own address does.
  if (local || keyVariable === undefined || wish.url) return undefined;
  const variables = [keyVariable, ...otherKeyVariables].map((one) => `\`${one}\``).join(" or ");
  const where = keyUrl ? ` Get one at ${keyUrl}.` : "";
  const message = `\`${name}\` needs a key in ${variables}, which is not set.${where}`;
  throw new Failure("key_missing", message);
}

/** Secrets stand in variables, which a header names: `x-team-key: $TEAM_KEY`. */
function fillHeaders(headers: OwnFields["headers"], env: Environment): Record<string, string> {
  const filled = Object.entries(headers ?? {}).map(([name, value]): [string, string] => {
    const variable = /^\$([A-Za-z_]\w*)$/.exec(value)?.[1];
    if (variable === undefined) return [name.toLowerCase(), value];
    const found = env[variable]?.trim();
    if (found) return [name.toLowerCase(), found];
    const message = `The header \`${name}\` needs the variable \`${variable}\`, which is not set.`;
    throw new Failure("key_missing", message);
  });
  return Object.fromEntries(filled);
}

/** Clouds have an address a region; it is in the environment, like the credentials. */
async function addressOf(name: VendorName, wish: ModelWish, env: Environment): Promise<string> {
  const { auth, baseUrlVariable = "" } = vendorOf(name);
  if (wish.url || env[baseUrlVariable] || (auth !== "google" && auth !== "aws")) {
    return baseUrlOf(name, { url: wish.url ?? undefined, env });
  }
  if (auth === "google")
    return (await import("../providers/vendors/google-cloud.ts")).vertexBaseUrl(env);
  return (await import("../providers/bedrock/aws-region.ts")).bedrockBaseUrl(env);
}

/** Whose account the requests of a cloud count against, as far as the environment says. */
function payerOf(env: Environment): string | undefined {
  return env["GOOGLE_CLOUD_PROJECT"] ?? env["AWS_PROFILE"] ?? env["AWS_ACCESS_KEY_ID"];
}

async function openSign(
  { auth }: Vendor,
  key: string | undefined,
  env: Environment,
): Promise<Sign> {
  if ((auth === "google" || auth === "aws") && key === undefined) return cloudSign(auth, env);
  const headers = keyHeaders(auth, key);
  return () => headers;
}

/** A key that was named for a cloud is a token of that cloud's. */
function keyHeaders(auth: Vendor["auth"], key: string | undefined): Record<string, string> {
  if (key === undefined || auth === "none") return {};
  const isOwnHeader = auth !== "bearer" && auth !== "google" && auth !== "aws";
  return isOwnHeader ? { [auth]: key } : { authorization: `Bearer ${key}` };
}

/** One set of credentials for all runs over one environment: a token is fetched once, not once a run. */
const cloudSigns = new WeakMap<Environment, Map<string, Promise<Sign>>>();

function cloudSign(auth: "google" | "aws", env: Environment): Promise<Sign> {
  const signs = cloudSigns.get(env) ?? new Map<string, Promise<Sign>>();
  cloudSigns.set(env, signs);
  const known = signs.get(auth) ?? openCloudSign(auth, env);
  signs.set(auth, known);
  return known;
}

async function openCloudSign(auth: "google" | "aws", env: Environment): Promise<Sign> {
  if (auth === "google")
    return (await import("../providers/vendors/google-auth.ts")).createGoogleSign(env);
  return (await import("../providers/bedrock/aws-auth.ts")).createAwsSign(env);
}
