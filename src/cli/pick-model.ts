/**
 * Chooses the model of a command, and its address: from a flag, a variable or a file; else it looks for one.
 */

import { Failure } from "../base/failure.ts";
import { chooseModel, type ModelChoice } from "../providers/models/choose-model.ts";
import { parseModelRef } from "../providers/models/model-ref.ts";
import { checkProvider } from "../providers/models/provider-names.ts";
import { movedTo, toShownUrl } from "../providers/vendors/base-url.ts";
import type { Config } from "../runtime/config/config.ts";
import { withOrigin } from "../runtime/config/setting-origin.ts";
import {
  addressOfModel,
  catalogOf,
  type ModelAddress,
  nameModel,
} from "../runtime/model-address.ts";
import type { Network } from "../runtime/network.ts";
import type { Io } from "./io.ts";

export interface PickedModel extends ModelChoice {
  readonly apiKeyName: string | undefined;
}

/** Says why this model was chosen, so that the bill is not a surprise. */
export async function pickModel(
  config: Config,
  network: Pick<Network, "open">,
  { env }: Pick<Io, "env">,
): Promise<PickedModel> {
  const provider = config.get("provider");
  const model = config.get("model");
  const url = config.get("url");
  if (provider) await withOrigin(config, "provider", () => checkProvider(provider));
  const catalog = catalogOf(config);
  const value = nameModel({ model, provider, url }, catalog);
  if (value === undefined && url !== undefined) {
    const from = config.sourceOf("url");
    const message = `\`url\` (${from}) names a server, and nothing names a model of it. Give one with -m NAME.`;
    throw new Failure("invalid_request", message, { param: "model" });
  }
  const named = model ? "model" : "provider";
  const choose = (): Promise<ModelChoice> =>
    chooseModel({
      explicit: value === undefined ? undefined : { value, source: config.sourceOf(named) },
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
  const choice = await withOrigin(config, named, choose);
  const address = addressOfModel(config, choice.ref);
  const notes = [address.note, toPlaceNote(config, choice, { address, env })];
  const reason = [choice.reason, ...notes.filter((note) => note !== undefined)].join("; ");
  const { apiKeyName } = address;
  return { ...choice, reason, apiKeyName, baseUrl: address.url ?? choice.baseUrl };
}

/** The model's address, unless it is the vendor's own or this command line names it. */
function toPlaceNote(
  config: Config,
  { ref, baseUrl }: ModelChoice,
  { address, env }: { readonly address: ModelAddress; readonly env: Io["env"] },
): string | undefined {
  if (address.url !== undefined) {
    const source = config.sourceOf("url");
    if (source.startsWith("--")) return undefined;
    return `asked at ${toShownUrl(address.url)} (\`url\`, ${source})`;
  }
  const catalog = catalogOf(config);
  const { vendor } = parseModelRef(ref, "custom", catalog);
  if (baseUrl !== undefined || !catalog.has(vendor)) return undefined;
  const moved = movedTo(vendor, env, catalog);
  return moved && `asked at ${toShownUrl(moved.url)} (\`${moved.variable}\`)`;
}
