/**
 * Chooses the model of a run, with a reason: an explicit choice, otherwise a key in the environment,
 * otherwise a server on this machine, otherwise the embedded model. The reason is always shown, so that no
 * bill is a surprise.
 */

import { Failure } from "../../base/failure.ts";
import { storedIn, storedProblem, usesStored } from "../../base/stored-keys.ts";
import { plural } from "../../base/text.ts";
import { CATALOG, type Catalog, VENDOR_NAMES, vendorOf } from "../vendors/catalog.ts";
import type { LocalServer } from "../vendors/local-servers.ts";
import { EMBEDDED, EMBEDDED_MODEL, formatModelRef, parseModelRef } from "./model-ref.ts";

export interface ModelChoice {
  /** `vendor/model`. */
  readonly ref: string;
  /** One line for stderr. */
  readonly reason: string;
  readonly source: "explicit" | "key" | "local" | "embedded";
  /** The address at which the server was found; undefined uses that of the vendor's row. */
  readonly baseUrl: string | undefined;
}

export interface ModelQuery {
  /** The model that the user wrote, and where: `-m`, `OFFSHOOT_MODEL`, a config file. */
  readonly explicit: { readonly value: string; readonly source: string } | undefined;
  /** The vendor of names that are not in the table: `custom` if a base URL was given. */
  readonly otherwise?: string | undefined;
  /** Only our own if missing. */
  readonly catalog?: Catalog | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called only if there is neither a choice nor a key. */
  readonly findLocal: () => Promise<LocalServer | undefined>;
}

const HOW_TO_CHOOSE = "choose with -m vendor/model, see `offshoot models`";

/** Rejects an explicit choice of an unknown model. */
export async function chooseModel(wishes: ModelQuery): Promise<ModelChoice> {
  const { explicit, env, otherwise, catalog } = wishes;
  if (explicit) {
    const ref = formatModelRef(parseModelRef(explicit.value, otherwise, catalog));
    const reason = `${ref} (${explicit.source})`;
    return { ref, reason, source: "explicit", baseUrl: undefined };
  }
  const found = chooseByKey(env) ?? (await chooseLocal(wishes.findLocal)) ?? chooseEmbedded();
  const hint = [HOW_TO_CHOOSE, ...toOwnHint(catalog)].join("; ");
  return { ...found, reason: `${found.ref} (${found.reason}; ${hint})` };
}

/** A vendor of the settings is never looked for, so people who wonder why are told its name. */
function toOwnHint(catalog: Catalog = CATALOG): string[] {
  const [first, ...others] = catalog.own;
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` and ${plural(others.length, "other vendor")}`;
  const model = `${first}/${catalog.of(first).defaultModel ?? "MODEL"}`;
  return [`\`${first}\`${more} of your settings only by name: -m ${model}`];
}

/**
 * The variable with a vendor's key, or undefined if none is set. A variable of the environment comes before
 * a stored key.
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

/** A key in the environment first, of any vendor; then a stored one. The reason is without the model's name. */
function chooseByKey(env: ModelQuery["env"]): ModelChoice | undefined {
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
    return { ref, reason: why, source: "key", baseUrl: undefined };
  }
  // Choosing another model because the stored key cannot be read would be a surprise.
  const problem = storedProblem(env);
  if (problem !== undefined) throw new Failure("key_missing", problem);
  return undefined;
}

async function chooseLocal(findLocal: ModelQuery["findLocal"]): Promise<ModelChoice | undefined> {
  const server = await findLocal();
  if (!server) return undefined;
  const ref = `${server.vendor}/${server.model}`;
  const where = new URL(server.baseUrl).host;
  const reason = `no key set; found at ${where}`;
  return { ref, reason, source: "local", baseUrl: server.baseUrl };
}

function chooseEmbedded(): ModelChoice {
  const ref = `${EMBEDDED}/${EMBEDDED_MODEL}`;
  const reason = "no key, no local server found";
  return { ref, reason, source: "embedded", baseUrl: undefined };
}
