/**
 * The models that an editor may offer: those that can be used here without asking the network again.
 */

import type { Environment } from "../../base/environment.ts";
import { keyVariableIn } from "../../providers/models/choose-model.ts";
import { EMBEDDED, EMBEDDED_MODEL } from "../../providers/models/model-ref.ts";
import { MODELS } from "../../providers/models/model-table.ts";
import { isVendor, vendorOf } from "../../providers/vendors/catalog.ts";
import type { Config } from "../../runtime/config/config.ts";

/** A longer menu would not be usable. */
const MAX_LISTED = 100;

export function listUsableModels(config: Config, env: Environment): readonly string[] {
  // A row that ends in `*` describes a family of models, not one model.
  const known = MODELS.filter(({ vendor, name }) => !name.endsWith("*") && hasKey(vendor, env));
  const named = [
    ...Object.keys(config.get("aliases") ?? {}),
    ...Object.keys(config.get("models") ?? {}),
    ...known.map(({ vendor, name }) => `${vendor}/${name}`),
    `${EMBEDDED}/${EMBEDDED_MODEL}`,
  ];
  return [...new Set(named.filter((name) => !name.includes("*")))].slice(0, MAX_LISTED);
}

function hasKey(vendor: string, env: Environment): boolean {
  return isVendor(vendor) && !vendorOf(vendor).local && keyVariableIn(vendor, env) !== undefined;
}
