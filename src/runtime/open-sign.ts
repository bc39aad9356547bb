/**
 * Finds the key or the cloud credentials of a vendor, and makes the headers that authorize a request. The only place
 * that reads keys: from the environment, otherwise stored ones (`keyIn`).
 */

import type { AgentTask } from "../agent/task.ts";
import type { Clock } from "../base/clock.ts";
import type { Environment } from "../base/environment.ts";
import { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { RetryPolicy } from "../base/retry.ts";
import { keyIn, storedProblem } from "../base/stored-keys.ts";
import type { DeploymentHealths } from "../providers/deployments/health.ts";
import type { GgufLibrary } from "../providers/gguf/library.ts";
import type { Timeouts } from "../providers/http/http-answer.ts";
import type { CloudSign, Sign, UnsignedRequest } from "../providers/http/http-provider.ts";
import { type OwnFields, variableIn } from "../providers/http/own-fields.ts";
import type { Transport } from "../providers/http/transport.ts";
import type { Limiters } from "../providers/limits/limiters.ts";
import { keyVariableIn } from "../providers/models/choose-model.ts";
import type { ModelOverride } from "../providers/models/models.ts";
import { CATALOG, type Catalog } from "../providers/vendors/catalog.ts";
import { type Auth, type Cloud, isCloud, type Vendor } from "../providers/vendors/vendor.ts";
import type { Quirks } from "../providers/wire.ts";

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

export interface Keyed {
  readonly name: string;
  readonly wish: Pick<ModelWish, "url" | "api_key_name">;
}

export function keyFor(
  { name, wish }: Keyed,
  env: Environment,
  catalog: Catalog,
): string | undefined {
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
export function fillHeaders(
  headers: OwnFields["headers"],
  env: Environment,
): Record<string, string> {
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

export async function openSign(
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
