/** Which model a server asks where a request names none, and whose the names are that it does not know. */

import { systemClock } from "../base/clock.ts";
import { checkProvider } from "../providers/vendors/provider-names.ts";
import type { ModelTarget } from "../responses/models/model-target.ts";
import type { Config } from "../runtime/config/config.ts";
import { addressOfModel, catalogOf, nameModel } from "../runtime/model-address.ts";
import type { Network } from "../runtime/network.ts";
import type { OwnServer } from "../runtime/served-models/model-routes.ts";
import { createUpstreamModels } from "../runtime/served-models/upstream-models.ts";
import type { Io } from "./io.ts";
import { pickModel } from "./pick-model.ts";

export interface PickedServed {
  readonly usual: ModelTarget | undefined;
  readonly own: OwnServer | undefined;
}

/**
 * An address without a model means all the models of that server: the first of its list is the usual
 * one. While it has told no list, each request must name its model.
 */
export async function pickServed(
  config: Config,
  network: Pick<Network, "open">,
  io: Pick<Io, "env">,
): Promise<PickedServed> {
  const provider = config.get("provider");
  const own = findOwn(config);
  if (!own) {
    const { ref, baseUrl, apiKeyName, source } = await pickModel(config, network, io);
    const usual = {
      ...{ model: ref, provider: toProvider(provider) },
      ...{ url: baseUrl ?? null, api_key_name: apiKeyName ?? null },
      ...(source === "embedded" && { fell_back: true }),
    };
    return { usual, own: undefined };
  }
  const parts = { server: own, transport: network.open, env: io.env, clock: systemClock };
  const [first] = await createUpstreamModels(parts)();
  const { vendor, ...server } = own;
  return { own, usual: first && { ...server, model: `${vendor}/${first.id}` } };
}

/** No vendor's key goes there: nothing has named a vendor. */
function findOwn(config: Config): OwnServer | undefined {
  const [provider, model, url] = [config.get("provider"), config.get("model"), config.get("url")];
  if (provider) checkProvider(provider);
  const named = nameModel({ model, provider, url }, catalogOf(config));
  if (url === undefined || named !== undefined) return undefined;
  const { apiKeyName } = addressOfModel(config, "custom/any");
  const api_key_name = apiKeyName ?? null;
  return { vendor: "custom", provider: toProvider(provider), url, api_key_name };
}

function toProvider(provider: string | undefined): string | null {
  return provider === undefined || provider === "embedded" ? null : provider;
}
