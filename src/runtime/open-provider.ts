/**
 * A provider over HTTP for a vendor: its row, its wire, the account that pays, and the limiter that all runs of this
 * account share. The only place that reads keys: from the environment, otherwise stored ones (`keyIn`).
 */

import type { AgentTask } from "../agent/task.ts";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { createRedact, findSecrets, type Redact } from "../base/redact.ts";
import type { RetryPolicy } from "../base/retry.ts";
import { keyIn, storedProblem } from "../base/stored-keys.ts";
import type { Item } from "../protocol/items.ts";
import type { Usage } from "../protocol/usage.ts";
import type { DeploymentHealths } from "../providers/deployments/health.ts";
import type { GgufLibrary } from "../providers/gguf/library.ts";
import type { CloudSign, Sign, UnsignedRequest } from "../providers/http/http-provider.ts";
import { type OwnFields, variableIn } from "../providers/http/own-fields.ts";
import { LOCAL_TIMEOUTS, MODEL_TIMEOUTS } from "../providers/http/timeouts.ts";
import type { Timeouts, Transport } from "../providers/http/transport.ts";
import type { Limiters } from "../providers/limits/limiters.ts";
import { keyVariableIn } from "../providers/models/choose-model.ts";
import type { ModelOverride } from "../providers/models/models.ts";
import { wireFor } from "../providers/models/provider-names.ts";
import type { ModelRequest, Provider, ReasoningOptions } from "../providers/provider.ts";
import { baseForWire, baseUrlOf } from "../providers/vendors/base-url.ts";
import { CATALOG, type Catalog } from "../providers/vendors/catalog.ts";
import type { NativeModel } from "../providers/vendors/native-model.ts";
import { nativeRowOf } from "../providers/vendors/native-tools.ts";
import { type Auth, type Cloud, isCloud, type Vendor } from "../providers/vendors/vendor.ts";
import type { Quirks, WireName } from "../providers/wire.ts";
import { loadWire } from "../providers/wires.ts";
import { VERSION } from "../version.ts";

/** The part of a task that names its model. */
export interface ModelWish {
  readonly model: string;
  readonly provider: string | null;
  readonly url: string | null;
  readonly api_key_name: string | null;
  readonly think: boolean;
  readonly effort?: AgentTask["effort"];
  readonly deployments?: AgentTask["deployments"];
  readonly fell_back?: AgentTask["fell_back"];
}

export interface ModelParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened when the first request needs it. */
  readonly transport: () => Promise<Transport>;
  readonly overrides?: readonly ModelOverride[] | undefined;
  /** The vendors that may be named; ours alone when left out. */
  readonly catalog?: Catalog | undefined;
  /** Time limits; the vendor's usual ones for those left out. */
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly retry?: RetryPolicy | undefined;
  readonly quirks?: Quirks | undefined;
  /** The vendor's own fields for every model; they override those of the model's row. */
  readonly options?: JsonObject | undefined;
  readonly log?: Log | undefined;
  /** The limiters of accounts; those of the process unless given. */
  readonly limiters?: Limiters | undefined;
  /** Which deployments of names with several work; that of the process unless given. */
  readonly healths?: DeploymentHealths | undefined;
  readonly clock?: Clock | undefined;
  /** Chooses among deployments; 0 to 1. */
  readonly random?: (() => number) | undefined;
  /** The GGUF models in this process; opened when the first run needs one. */
  readonly gguf?: (() => Promise<GgufLibrary>) | undefined;
}

type Environment = ModelParts["env"];

type Prepare = (request: ModelRequest) => { request: ModelRequest; dropped: readonly string[] };

interface HttpParts extends ModelParts {
  readonly prepare: Prepare;
  readonly own: OwnFields;
  /** The vendor's own name of the model. */
  readonly model: string;
}

export interface OpenedModel {
  readonly provider: Provider;
  readonly contextTokens: number | undefined;
  /** The cost of an answer from that deployment; without one, the most that any of them may cost. */
  readonly costOf: (usage: Usage, deployment?: string) => number | undefined;
  /** True if its vendor reports with each answer what it cost. */
  readonly tellsCost?: boolean | undefined;
  readonly reasoning: ReasoningOptions;
  /** The vendor's own fields that the settings add to each request. */
  readonly own?: JsonObject | undefined;
  /** The tools and items that its vendor handles itself; none when left out. */
  readonly native?: NativeModel | undefined;
  /** Rejects items of a kind that the model is known not to take. */
  readonly checkInput: (items: readonly Item[]) => void;
}

export async function openHttpProvider(
  name: string,
  wish: ModelWish,
  { prepare, own, model, ...parts }: HttpParts,
): Promise<Provider> {
  const { catalog = CATALOG } = parts;
  const vendor = catalog.of(name);
  const endpoint = await openEndpoint({ name, model, wish }, own.headers, parts);
  const { wire, baseUrl, key } = endpoint;
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
    headers: endpoint.headers,
    own: own.options,
    sign: await endpoint.openSign(),
    quirks: { ...vendor.quirks, native: nativeRowOf(vendor.like ?? name, wire), ...parts.quirks },
    transport: watchTransport(await parts.transport(), limiter),
    prepare,
    redact: endpoint.redact,
    // Retried outside the limiter, so that a call that waits for a retry keeps no slot.
    retry: ONE_TRY,
    timeouts: { ...usualTimeouts(vendor, name), ...parts.timeouts },
    ...(parts.log ? { log: parts.log } : {}),
  });
  const limited = limitProvider(provider, limiter, { retry: parts.retry, log: parts.log });
  if ((vendor.like ?? name) !== "llamacpp") return limited;
  const { waitForServer } = await import("../providers/llamacpp/server.ts");
  return waitForServer(limited, { transport: await parts.transport(), baseUrl });
}

/** Where a vendor is reached, and with which account. */
export interface VendorEndpoint {
  readonly wire: WireName;
  readonly baseUrl: string;
  readonly key: string | undefined;
  /** Sent with every request; they contain no key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly redact: Redact;
  openSign(): Promise<Sign>;
}

/** Rejects with `key_missing` if the key is not set. */
export async function openEndpoint(
  asked: Asked,
  own: OwnFields["headers"],
  parts: ModelParts,
): Promise<VendorEndpoint> {
  const { env, catalog = CATALOG } = parts;
  const vendor = catalog.of(asked.name);
  const { wire, baseUrl } = await findAddress(asked, env, catalog);
  const key = keyFor(asked, env, catalog);
  const headers = fillHeaders(own, env);
  return {
    wire,
    baseUrl,
    key,
    headers: { "user-agent": `offshoot/${VERSION}`, ...vendor.headers, ...headers },
    // The key's variable may have a name that does not look like a key's.
    redact: createRedact([...findSecrets(env), key ?? "", ...Object.values(headers)]),
    openSign: () => openSign(vendor, key, parts),
  };
}

/**
 * `custom` may be anywhere, and so may a vendor of the user's own: their names do not make them servers of this
 * machine.
 */
function usualTimeouts({ local, own }: Vendor, name: string): Timeouts {
  return local && !own && name !== "custom" ? LOCAL_TIMEOUTS : MODEL_TIMEOUTS;
}

/** The headers that sign a request to a server at an address of the settings, if a key is enough. */
export function keyHeadersOf(
  server: Pick<ModelWish, "url" | "api_key_name"> & { readonly vendor: string },
  env: Environment,
  catalog: Catalog = CATALOG,
): Record<string, string> {
  const { vendor: name, url, api_key_name } = server;
  if (!catalog.has(name)) return {};
  const { auth, own, fields } = catalog.of(name);
  const wish = { url: own ? null : url, api_key_name };
  const key = keyFor({ name, wish }, env, catalog);
  return { ...fillHeaders(fields?.headers, env), ...keyHeaders(auth, key) };
}

interface Keyed {
  readonly name: string;
  readonly wish: Pick<ModelWish, "url" | "api_key_name">;
}

function keyFor({ name, wish }: Keyed, env: Environment, catalog: Catalog): string | undefined {
  const { auth, keyVariable, otherKeyVariables = [], keyUrl, local, own } = catalog.of(name);
  const variable = wish.api_key_name ?? keyVariableIn(name, env, catalog);
  const key = variable ? keyIn(env, variable) : undefined;
  if (key) return key;
  const problem = storedProblem(env);
  if (wish.api_key_name) {
    const usual = `The variable \`${wish.api_key_name}\` is not set. Put the key there.`;
    throw new Failure("key_missing", problem ?? usual);
  }
  // An address of the user's own may need no key; a vendor's own address does, unless a cloud signs.
  const isUsual = !local && !isCloud(auth);
  if (keyVariable === undefined || wish.url || !(own || isUsual)) return undefined;
  const variables = [keyVariable, ...otherKeyVariables].map((one) => `\`${one}\``).join(" or ");
  const where = keyUrl ? ` Get one at ${keyUrl}.` : "";
  const store = ` Store it with \`offshoot auth set ${name}\`.`;
  const message = `\`${name}\` needs a key in ${variables}, which is not set.${where}${store}`;
  throw new Failure("key_missing", problem ?? message);
}

/** Secrets belong in variables, which a header names: `x-team-key: $TEAM_KEY`. */
function fillHeaders(headers: OwnFields["headers"], env: Environment): Record<string, string> {
  const filled = Object.entries(headers ?? {}).map(([name, value]): [string, string] => {
    const variable = variableIn(value);
    if (variable === undefined) return [name.toLowerCase(), value];
    const found = keyIn(env, variable);
    if (found) return [name.toLowerCase(), found];
    const message = `The header \`${name}\` needs the variable \`${variable}\`, which is not set.`;
    throw new Failure("key_missing", message);
  });
  return Object.fromEntries(filled);
}

interface Asked {
  readonly name: string;
  readonly model: string;
  readonly wish: ModelWish;
}

/** The wire to use, and its address. */
async function findAddress(
  { name, model, wish }: Asked,
  env: Environment,
  catalog: Catalog,
): Promise<{ readonly wire: WireName; readonly baseUrl: string }> {
  const vendor = catalog.of(name);
  const given = await addressOf({ name, wish }, env, catalog);
  const provider = wish.provider ?? undefined;
  if (vendor.auth === "azure" || vendor.like === "azure") {
    const { isVersioned, toDeploymentBase } = await import("../providers/azure/deployments.ts");
    if (isVersioned(given)) {
      // Before its v1 API a deployment only had the chat API, unless the settings say otherwise.
      const wire = wireFor(name, provider ?? "openai-chat", catalog);
      return { wire, baseUrl: toDeploymentBase(given, wire, model) };
    }
  }
  const wire = wireFor(name, provider, catalog);
  return { wire, baseUrl: baseForWire(vendor, wire, given) };
}

/** Clouds have an address for each region; the region is in the environment, like the credentials. */
async function addressOf(
  { name, wish }: Keyed,
  env: Environment,
  catalog: Catalog,
): Promise<string> {
  const { auth, baseUrl, baseUrlVariable = "" } = catalog.of(name);
  const isRegional = baseUrl === "" && (auth === "google" || auth === "aws");
  if (wish.url || env[baseUrlVariable] || !isRegional) {
    return baseUrlOf(name, { url: wish.url ?? undefined, env }, catalog);
  }
  if (auth === "google")
    return (await import("../providers/vendors/google-cloud.ts")).vertexBaseUrl(env);
  return (await import("../providers/bedrock/aws-region.ts")).bedrockBaseUrl(env);
}

/** The account that a cloud's requests count against, if the environment names it. */
function payerOf(env: Environment): string | undefined {
  return env["GOOGLE_CLOUD_PROJECT"] ?? env["AWS_PROFILE"] ?? env["AWS_ACCESS_KEY_ID"];
}

async function openSign(
  { auth }: Vendor,
  key: string | undefined,
  { env, transport }: ModelParts,
): Promise<Sign> {
  if (isCloud(auth) && key === undefined) {
    const sign = await cloudSign(auth, env);
    return (unsigned) => sign({ ...unsigned, transport });
  }
  const headers = keyHeaders(auth, key);
  return () => headers;
}

/** A key that was named for a cloud is a token of that cloud. */
function keyHeaders(auth: Auth, key: string | undefined): Record<string, string> {
  if (key === undefined || auth === "none") return {};
  if (auth === "azure") return { "api-key": key };
  const isBearer = auth === "bearer" || isCloud(auth);
  return isBearer ? { authorization: `Bearer ${key}` } : { [auth]: key };
}

/** One set of credentials for all runs with one environment: a token is fetched once, not for each run. */
const cloudSigns = new WeakMap<Environment, Map<Cloud, Promise<MachineSign>>>();

/** Gets with each request the way to the network: the runs that share the credentials have their own. */
type MachineSign = (
  unsigned: UnsignedRequest & Pick<ModelParts, "transport">,
) => ReturnType<CloudSign>;

function cloudSign(auth: Cloud, env: Environment): Promise<MachineSign> {
  const signs = cloudSigns.get(env) ?? new Map<Cloud, Promise<MachineSign>>();
  cloudSigns.set(env, signs);
  const known = signs.get(auth) ?? openCloudSign(auth, env);
  signs.set(auth, known);
  return known;
}

async function openCloudSign(auth: Cloud, env: Environment): Promise<MachineSign> {
  if (auth === "azure")
    return (await import("../providers/azure/entra-auth.ts")).createEntraSign(env);
  if (auth === "google")
    return (await import("../providers/vendors/google-auth.ts")).createGoogleSign(env);
  return (await import("../providers/bedrock/aws-auth.ts")).createAwsSign(env);
}
