/**
 * Checks of `offshoot doctor` that say which models can be asked: keys, vendors, servers of this machine, and which
 * model would be chosen.
 */

import { toFailure } from "../base/failure.ts";

import { keyIn, usesStored } from "../base/stored-keys.ts";
import { variableIn } from "../providers/http/own-fields.ts";
import { chooseModel, keyVariableIn } from "../providers/models/choose-model.ts";
import { CATALOG, VENDOR_NAMES, vendorOf } from "../providers/vendors/catalog.ts";
import {
  createProbe,
  findLocalServer,
  type LocalServer,
  originsIn,
} from "../providers/vendors/local-servers.ts";
import type { Config } from "../runtime/config/config.ts";
import { catalogOf } from "../runtime/model-address.ts";
import { createNetwork } from "../runtime/network.ts";
import { broken, type DoctorCheck, type DoctorSurroundings, gap, ok } from "./doctor-check.ts";

/** The keys of our vendors and of those of the settings. */
export function checkKeys({ env }: DoctorSurroundings, config?: Config): DoctorCheck {
  const catalog = config ? catalogOf(config) : CATALOG;
  const vendors = [...VENDOR_NAMES, ...catalog.own];
  const set = vendors.flatMap((vendor) => keyVariableIn(vendor, env, catalog) ?? []);
  const named = [...new Set(set)].map((name) =>
    usesStored(env, name) ? `${name} (stored)` : name,
  );
  if (named.length > 0) return ok("keys", named.join(", "));
  const { keyVariable, keyUrl } = vendorOf("openai");
  return gap(
    "keys",
    "none set",
    `Get one (${keyUrl}) and store it with \`offshoot auth set openai\`, or put it in \`${keyVariable}\`, or use a local server.`,
  );
}

/** The vendors of the settings, and the variables that they need and that are not set. */
export function checkVendors(
  { env }: DoctorSurroundings,
  config: Config | undefined,
): DoctorCheck[] {
  if (!config) return [];
  const catalog = catalogOf(config);
  return catalog.own.map((vendor): DoctorCheck => {
    const { baseUrl, keyVariable, fields } = catalog.of(vendor);
    const headers = Object.values(fields?.headers ?? {}).flatMap((text) => variableIn(text) ?? []);
    const needed = [...(keyVariable === undefined ? [] : [keyVariable]), ...headers];
    const missing = needed.find((name) => keyIn(env, name) === undefined);
    const name = `vendor ${vendor}`;
    if (missing === undefined) return ok(name, baseUrl);
    return gap(name, `\`${missing}\` is not set`, `Put its value there: ${baseUrl} needs it.`);
  });
}

export async function findServer({ env }: DoctorSurroundings): Promise<LocalServer | undefined> {
  const network = createNetwork(env);
  try {
    const probe = createProbe(await network.open());
    return await findLocalServer({ probe, origins: originsIn(env) });
  } catch {
    // The CA bundle cannot be read; its own check says so.
    return undefined;
  } finally {
    await network.close().catch(() => {});
  }
}

export function checkServer(
  config: Config | undefined,
  server: LocalServer | undefined,
): DoctorCheck {
  const name = "local server";
  if (server) return ok(name, `${server.vendor} at ${server.baseUrl}, ${server.model}`);
  if (config?.get("probe_local") === false)
    return ok(name, "not looked for (`probe_local` is off)");
  return gap(
    name,
    "none found",
    "Start Ollama, llama.cpp's server, LM Studio or vLLM to use a model on this machine.",
  );
}

export async function checkModel(
  { env }: DoctorSurroundings,
  config: Config | undefined,
  server: LocalServer | undefined,
): Promise<DoctorCheck> {
  const value = config?.get("model");
  try {
    const { reason } = await chooseModel({
      explicit:
        value === undefined ? undefined : { value, source: config?.sourceOf("model") ?? "" },
      otherwise: config?.get("url") === undefined ? undefined : "custom",
      catalog: config && catalogOf(config),
      env,
      findLocal: async () => server,
    });
    return ok("model", reason);
  } catch (thrown) {
    const from = config?.sourceOf("model");
    return broken("model", toFailure(thrown).message, `Change \`model\` (${from}).`);
  }
}
