/** Which model a command asks, and where: a flag, a variable or a file names it; else it is looked for. */

import { Failure } from "../base/failure.ts";
import { chooseModel, type ModelChoice } from "../providers/models/choose-model.ts";
import { checkProvider } from "../providers/vendors/provider-names.ts";
import type { Config } from "../runtime/config/config.ts";
import { addressOfModel, catalogOf, nameModel } from "../runtime/model-address.ts";
import type { Network } from "../runtime/network.ts";
import type { Io } from "./io.ts";

export interface PickedModel extends ModelChoice {
  readonly apiKeyName: string | undefined;
}

/** The user is told why, so nobody is billed by surprise. */
export async function pickModel(
  config: Config,
  network: Pick<Network, "open">,
  { env }: Pick<Io, "env">,
): Promise<PickedModel> {
  const [provider, model, url] = [config.get("provider"), config.get("model"), config.get("url")];
  if (provider) checkProvider(provider);
  const catalog = catalogOf(config);
  const value = nameModel({ model, provider, url }, catalog);
  if (value === undefined && url !== undefined) {
    const from = config.sourceOf("url");
    const message = `\`url\` (${from}) names a server, and nothing names a model of it. Give one with -m NAME.`;
    throw new Failure("invalid_request", message, { param: "model" });
  }
  const source = model ? config.sourceOf("model") : config.sourceOf("provider");
  const choice = await chooseModel({
    explicit: value === undefined ? undefined : { value, source },
    otherwise: url ? "custom" : undefined,
    catalog,
    env,
    findLocal: async () => {
      if (!config.get("probe_local")) return undefined;
      const local = await import("../providers/vendors/local-servers.ts");
      const probe = local.createProbe(await network.open());
      return local.findLocalServer({ probe, origins: local.originsIn(env) });
    },
  });
  const address = addressOfModel(config, choice.ref);
  const reason = address.note === undefined ? choice.reason : `${choice.reason}; ${address.note}`;
  const { apiKeyName } = address;
  return { ...choice, reason, apiKeyName, baseUrl: address.url ?? choice.baseUrl };
}
