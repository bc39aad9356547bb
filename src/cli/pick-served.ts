/**
 * Chooses the model for requests that name none, and the server for names that it does not know.
 */

import { systemClock } from "../base/clock.ts";
import { toFailure } from "../base/failure.ts";
import { checkProvider } from "../providers/models/provider-names.ts";
import type { ModelTarget } from "../responses/models/model-target.ts";
import type { Config } from "../runtime/config/config.ts";
import { withOrigin } from "../runtime/config/setting-origin.ts";
import { addressOfModel, catalogOf, nameModel } from "../runtime/model-address.ts";
import type { Network } from "../runtime/network.ts";
import { keyHeadersOf } from "../runtime/open-sign.ts";
import type { OwnServer } from "../runtime/served-models/model-routes.ts";
import { createUpstreamModels } from "../runtime/served-models/upstream-models.ts";
import type { Io } from "./io.ts";
import { pickModel } from "./pick-model.ts";

export interface PickedServed {
  readonly usual: ModelTarget | undefined;
  readonly own: OwnServer | undefined;
  /** Why requests that name no model would fail: the key of the default model is not set. */
  readonly keyProblem?: string | undefined;
}

/**
 * An address without a model stands for all models of that server: the first of its list is the default. While the
 * server has given no list, each request must name its model.
 */
export async function pickServed(
  config: Config,
  network: Pick<Network, "open">,
  io: Pick<Io, "env">,
): Promise<PickedServed> {
  const provider = config.get("provider");
  const own = await withOrigin(config, "provider", () => findOwn(config));
  if (!own) {
    const { ref, baseUrl, apiKeyName, source } = await pickModel(config, network, io);
    const usual = {
      model: ref,
      provider: toProvider(provider),
      url: baseUrl ?? null,
      api_key_name: apiKeyName ?? null,
      ...(source === "embedded" && { fell_back: true }),
    };
    return { usual, own: undefined, keyProblem: findKeyProblem(usual, config, io) };
  }
  const parts = { server: own, transport: network.open, env: io.env, clock: systemClock };
  const [first] = await createUpstreamModels(parts)();
  const { vendor, ...server } = own;
  return { own, usual: first && { ...server, model: `${vendor}/${first.id}` } };
}

function findKeyProblem(
  { model, url, api_key_name }: ModelTarget,
  config: Config,
  { env }: Pick<Io, "env">,
): string | undefined {
  const vendor = model.slice(0, model.indexOf("/"));
  try {
    keyHeadersOf({ vendor, url, api_key_name }, env, catalogOf(config));
    return undefined;
  } catch (thrown) {
    const { code, message } = toFailure(thrown);
    if (code !== "key_missing") throw thrown;
    return message;
  }
}

/** No vendor's key is sent there, because no vendor is named. */
function findOwn(config: Config): OwnServer | undefined {
  const provider = config.get("provider");
  const model = config.get("model");
  const url = config.get("url");
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
