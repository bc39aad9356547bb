/**
 * Which model a run uses, and why: an explicit choice, else a key in the environment, else a server
 * on this machine, else the embedded one. The reason is always shown, so nobody is billed by surprise.
 */

import { Failure } from "../../base/failure.ts";
import { storedIn, storedProblem, usesStored } from "../../base/stored-keys.ts";
import { CATALOG, type Catalog, VENDOR_NAMES, vendorOf } from "../vendors/catalog.ts";
import type { LocalServer } from "../vendors/local-servers.ts";
import { EMBEDDED, EMBEDDED_MODEL, formatModelRef, parseModelRef } from "./model-ref.ts";

export interface ModelChoice {
  /** `vendor/model`. */
  readonly ref: string;
  /** One line for stderr. */
  readonly reason: string;
  readonly source: "explicit" | "key" | "local" | "embedded";
  /** Where the server was found; undefined leaves it to the vendor's row. */
  readonly baseUrl: string | undefined;
}

export interface ModelWishes {
  /** What the user wrote, and where: `-m`, `OFFSHOOT_MODEL`, a config file. */
  readonly explicit: { readonly value: string; readonly source: string } | undefined;
  /** The vendor of names the table does not know: `custom` when a base URL was given. */
  readonly otherwise?: string | undefined;
  /** Ours alone when left out. */
  readonly catalog?: Catalog | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called only when there is neither a choice nor a key. */
  readonly findLocal: () => Promise<LocalServer | undefined>;
}

const HOW_TO_CHOOSE = "choose with -m vendor/model, see `offshoot models`";

/** Rejects an explicit choice that names nothing. */
export async function chooseModel(wishes: ModelWishes): Promise<ModelChoice> {
  const { explicit, env, otherwise, catalog } = wishes;
  if (explicit) {
    const ref = formatModelRef(parseModelRef(explicit.value, otherwise, catalog));
    const reason = `${ref} (${explicit.source})`;
    return { ref, reason, source: "explicit", baseUrl: undefined };
  }
  return chooseByKey(env) ?? (await chooseLocal(wishes.findLocal)) ?? chooseEmbedded();
}

/**
 * The variable a vendor's key is in, or undefined when none of them is set. One that the environment has
 * comes before one that is stored.
 */
export function keyVariableIn(
  vendor: string,
  env: Readonly<Record<string, string | undefined>>,
  catalog: Catalog = CATALOG,
): string | undefined {
  const { keyVariable, otherKeyVariables = [] } = catalog.of(vendor);
  if (keyVariable === undefined) return undefined;
  const names = [keyVariable, ...otherKeyVariables];
  const set = names.find((name) => (env[name] ?? "").trim() !== "");
  return set ?? names.find((name) => storedIn(env, name) !== undefined);
}

/** A key of the environment first, whoever its vendor is; then a stored one. */
function chooseByKey(env: ModelWishes["env"]): ModelChoice | undefined {
  const found = VENDOR_NAMES.flatMap((vendor) => {
    const { defaultModel } = vendorOf(vendor);
    const variable = keyVariableIn(vendor, env);
    if (defaultModel === undefined || variable === undefined) return [];
    return [{ ref: `${vendor}/${defaultModel}`, variable, isStored: usesStored(env, variable) }];
  });
  const best = found.find(({ isStored }) => !isStored) ?? found[0];
  if (best) {
    const { ref, variable, isStored } = best;
    const why = isStored ? "its key is stored" : `\`${variable}\` is set`;
    const reason = `${ref} (${why}; ${HOW_TO_CHOOSE})`;
    return { ref, reason, source: "key", baseUrl: undefined };
  }
  // Another model in the place of the one whose key is there but may not be read would be a surprise.
  const problem = storedProblem(env);
  if (problem !== undefined) throw new Failure("key_missing", problem);
  return undefined;
}

async function chooseLocal(findLocal: ModelWishes["findLocal"]): Promise<ModelChoice | undefined> {
  const server = await findLocal();
  if (!server) return undefined;
  const ref = `${server.vendor}/${server.model}`;
  const where = new URL(server.baseUrl).host;
  const reason = `${ref} (no key set; found at ${where}; ${HOW_TO_CHOOSE})`;
  return { ref, reason, source: "local", baseUrl: server.baseUrl };
}

function chooseEmbedded(): ModelChoice {
  const ref = `${EMBEDDED}/${EMBEDDED_MODEL}`;
  const reason = `${ref} (no key, no local server found; ${HOW_TO_CHOOSE})`;
  return { ref, reason, source: "embedded", baseUrl: undefined };
}
