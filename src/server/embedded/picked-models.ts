/** Which models a server asks that a program embeds. Nothing is looked for: what is not named is not asked. */

import type { ModelTarget } from "../../responses/models/model-target.ts";
import type { Config } from "../../runtime/config/config.ts";
import { addressOfModel, catalogOf, nameModel } from "../../runtime/model-address.ts";
import type { ModelRoutes } from "../../runtime/served-models/model-routes.ts";

/** For a program that answers every model itself. */
const OWN: ModelTarget = { model: "custom/own", provider: null, url: null, api_key_name: null };

export function pickModels(
  config: Config,
  hasProvider: boolean,
): Pick<ModelRoutes, "usual" | "named"> {
  const usual = findUsual(config);
  // Its provider answers whatever is named.
  if (hasProvider) return { usual: usual ?? OWN, named: [["*", usual ?? OWN]] };
  return { usual, named: [] };
}

function findUsual(config: Config): ModelTarget | undefined {
  const [provider, model, url] = [config.get("provider"), config.get("model"), config.get("url")];
  const named = nameModel({ model, provider, url }, catalogOf(config));
  if (named === undefined) return undefined;
  const { url: address, apiKeyName } = addressOfModel(config, named);
  return {
    model: named,
    provider: provider ?? null,
    url: address ?? null,
    api_key_name: apiKeyName ?? null,
  };
}
