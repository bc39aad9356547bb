/** Which model a command asks: a flag, a variable or a file names it; else it is looked for. */

import { chooseModel, type ModelChoice } from "../providers/models/choose-model.ts";
import { EMBEDDED } from "../providers/models/model-ref.ts";
import { checkProvider } from "../providers/vendors/provider-names.ts";
import { isWire, WIRES } from "../providers/wires.ts";
import type { Config } from "../runtime/config/config.ts";
import type { Network } from "../runtime/network.ts";
import type { Io } from "./io.ts";

/** The user is told why, so nobody is billed by surprise. */
export async function pickModel(
  config: Config,
  network: Pick<Network, "open">,
  { env }: Pick<Io, "env">,
): Promise<ModelChoice> {
  const provider = config.get("provider");
  if (provider) checkProvider(provider);
  const value = nameModel(config.get("model"), provider, config.get("url"));
  const source = config.get("model") ? config.sourceOf("model") : config.sourceOf("provider");
  return chooseModel({
    explicit: value === undefined ? undefined : { value, source },
    otherwise: config.get("url") ? "custom" : undefined,
    env,
    findLocal: async () => {
      if (!config.get("probe_local")) return undefined;
      const local = await import("../providers/vendors/local-servers.ts");
      const probe = local.createProbe(await network.open());
      return local.findLocalServer({ probe, origins: local.originsIn(env) });
    },
  });
}

/**
 * The model with its vendor. A name without one belongs to the server that was given, if it speaks a
 * wire that anybody may speak; else to the vendor of the provider that was named.
 */
function nameModel(
  model: string | undefined,
  provider: string | undefined,
  url: string | undefined,
): string | undefined {
  if (model?.includes("/") || (model === undefined && provider === undefined)) return model;
  if (provider === EMBEDDED) return EMBEDDED;
  const isOpen = provider === undefined || provider.startsWith("openai-");
  if (url && isOpen) return model && `custom/${model}`;
  if (provider === undefined || !isWire(provider)) return model;
  const { vendor } = WIRES[provider];
  return model === undefined ? vendor : `${vendor}/${model}`;
}
