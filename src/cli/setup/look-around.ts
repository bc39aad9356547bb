/**
 * Finds what a first start can use: keys in the environment and stored ones, model servers on this machine, a chosen
 * model.
 */

import { storedProblem, usesStored } from "../../base/stored-keys.ts";
import { keyVariableIn } from "../../providers/models/choose-model.ts";
import type { Catalog } from "../../providers/vendors/catalog.ts";
import {
  createProbe,
  findLocalServers,
  type LocalServer,
  originsIn,
} from "../../providers/vendors/local-servers.ts";
import { type Config, loadConfig } from "../../runtime/config/config.ts";
import { catalogOf } from "../../runtime/model-address.ts";
import { createNetwork } from "../../runtime/network.ts";
import type { Io } from "../io.ts";

export interface FoundVendorKey {
  readonly vendor: string;
  readonly variable: string;
  readonly isStored: boolean;
}

export interface FoundSetup {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly keys: readonly FoundVendorKey[];
  /** Why stored keys cannot be read; undefined if they can. */
  readonly problem: string | undefined;
  readonly servers: readonly LocalServer[];
  /** The model of the settings, with its source. */
  readonly model: { readonly ref: string; readonly source: string } | undefined;
}

type Place = Pick<Io, "env" | "home" | "cwd">;

/**
 * True if a run here has a model other than the embedded one, as far as is known without the network.
 */
export async function isSetUp(io: Place): Promise<boolean> {
  try {
    const config = await loadConfig(io);
    const isNamed = ["model", "url", "provider"] as const;
    if (isNamed.some((name) => config.get(name) !== undefined)) return true;
    return findKeys(catalogOf(config), io.env).length > 0;
  } catch {
    // The command that needs the settings reports what is wrong with them.
    return true;
  }
}

/**
 * Rejects if the settings are invalid. Asks only servers of this machine, and only if `probe_local` allows it.
 */
export async function lookAround(io: Place): Promise<FoundSetup> {
  const config = await loadConfig(io);
  const catalog = catalogOf(config);
  const model = config.get("model");
  return {
    config,
    catalog,
    keys: findKeys(catalog, io.env),
    problem: storedProblem(io.env),
    servers: config.get("probe_local") ? await findServers(io.env) : [],
    model: model === undefined ? undefined : { ref: model, source: config.sourceOf("model") },
  };
}

/** One for each variable: several vendors may share one. */
function findKeys(catalog: Catalog, env: Io["env"]): FoundVendorKey[] {
  const found = new Map<string, FoundVendorKey>();
  for (const vendor of catalog.names) {
    const variable = keyVariableIn(vendor, env, catalog);
    if (variable === undefined || found.has(variable)) continue;
    found.set(variable, { vendor, variable, isStored: usesStored(env, variable) });
  }
  return [...found.values()];
}

async function findServers(env: Io["env"]): Promise<LocalServer[]> {
  const network = createNetwork(env);
  try {
    const probe = createProbe(await network.open());
    return await findLocalServers({ probe, origins: originsIn(env) });
  } catch {
    // A CA bundle or an address cannot be read: `offshoot doctor` reports it.
    return [];
  } finally {
    await network.close().catch(() => {});
  }
}
