/**
 * A provider over HTTP for a vendor: its row, its wire, the account that pays, and the limiter that all runs of this
 * account share.
 */

import type { Environment } from "../base/environment.ts";
import type { JsonObject } from "../base/json.ts";
import { createRedact, findSecrets, type Redact } from "../base/redact.ts";
import type { Item } from "../protocol/items.ts";
import type { Usage } from "../protocol/usage.ts";
import type { Timeouts } from "../providers/http/http-answer.ts";
import type { Sign } from "../providers/http/http-provider.ts";
import type { OwnFields } from "../providers/http/own-fields.ts";
import { LOCAL_TIMEOUTS, MODEL_TIMEOUTS } from "../providers/http/timeouts.ts";
import { wireFor } from "../providers/models/provider-names.ts";
import type { ModelRequest, Provider, ReasoningOptions } from "../providers/provider.ts";
import { baseForWire, baseUrlOf } from "../providers/vendors/base-url.ts";
import { CATALOG, type Catalog } from "../providers/vendors/catalog.ts";
import type { NativeModel } from "../providers/vendors/native-model.ts";
import { nativeRowOf } from "../providers/vendors/native-tools.ts";
import type { Vendor } from "../providers/vendors/vendor.ts";
import type { WireName } from "../providers/wire.ts";
import { loadWire } from "../providers/wires.ts";
import { VERSION } from "../version.ts";
import {
  fillHeaders,
  type Keyed,
  keyFor,
  type ModelParts,
  type ModelWish,
  openSign,
} from "./open-sign.ts";

type Prepare = (request: ModelRequest) => { request: ModelRequest; dropped: readonly string[] };

interface HttpParts extends ModelParts {
  readonly prepare: Prepare;
  readonly own: OwnFields;
  /** The vendor's own name of the model. */
  readonly model: string;
}

export interface OpenedModel {
  readonly provider: Provider;
  readonly contextTokens: number | undefined;
  /** The cost of an answer from that deployment; without one, the most that any of them may cost. */
  readonly costOf: (usage: Usage, deployment?: string) => number | undefined;
  /** True if its vendor reports with each answer what it cost. */
  readonly tellsCost?: boolean | undefined;
  readonly reasoning: ReasoningOptions;
  /** The vendor's own fields that the settings add to each request. */
  readonly own?: JsonObject | undefined;
  /** The tools and items that its vendor handles itself; none when left out. */
  readonly native?: NativeModel | undefined;
  /** Rejects items of a kind that the model is known not to take. */
  readonly checkInput: (items: readonly Item[]) => void;
}

export async function openHttpProvider(
  name: string,
  wish: ModelWish,
  { prepare, own, model, ...parts }: HttpParts,
): Promise<Provider> {
  const { catalog = CATALOG } = parts;
  const vendor = catalog.of(name);
  const endpoint = await openEndpoint({ name, model, wish }, own.headers, parts);
  const { wire, baseUrl, key } = endpoint;
  const [{ createHttpProvider }, { limitProvider, ONE_TRY, watchTransport }, limiters] =
    await Promise.all([
      import("../providers/http/http-provider.ts"),
      import("../providers/limits/limited-provider.ts"),
      parts.limiters ??
        import("../providers/limits/limiters.ts").then((all) => all.processLimiters),
    ]);
  const limiter = limiters.of({ vendor: name, baseUrl, key: key ?? payerOf(parts.env) });
  const provider = createHttpProvider({
    vendor: name,
    wire: await loadWire(wire),
    baseUrl,
    headers: endpoint.headers,
    own: own.options,
    sign: await endpoint.openSign(),
    quirks: { ...vendor.quirks, native: nativeRowOf(vendor.like ?? name, wire), ...parts.quirks },
    transport: watchTransport(await parts.transport(), limiter),
    prepare,
    redact: endpoint.redact,
    // Retried outside the limiter, so that a call that waits for a retry keeps no slot.
    retry: ONE_TRY,
    timeouts: { ...usualTimeouts(vendor, name), ...parts.timeouts },
    ...(parts.log ? { log: parts.log } : {}),
  });
  const limited = limitProvider(provider, limiter, { retry: parts.retry, log: parts.log });
  if ((vendor.like ?? name) !== "llamacpp") return limited;
  const { waitForServer } = await import("../providers/llamacpp/server.ts");
  return waitForServer(limited, { transport: await parts.transport(), baseUrl });
}

/** Where a vendor is reached, and with which account. */
export interface VendorEndpoint {
  readonly wire: WireName;
  readonly baseUrl: string;
  readonly key: string | undefined;
  /** Sent with every request; they contain no key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly redact: Redact;
  openSign(): Promise<Sign>;
}

/** Rejects with `key_missing` if the key is not set. */
export async function openEndpoint(
  asked: Asked,
  own: OwnFields["headers"],
  parts: ModelParts,
): Promise<VendorEndpoint> {
  const { env, catalog = CATALOG } = parts;
  const vendor = catalog.of(asked.name);
  const { wire, baseUrl } = await findAddress(asked, env, catalog);
  const key = keyFor(asked, env, catalog);
  const headers = fillHeaders(own, env);
  return {
    wire,
    baseUrl,
    key,
    headers: { "user-agent": `offshoot/${VERSION}`, ...vendor.headers, ...headers },
    // The key's variable may have a name that does not look like a key's.
    redact: createRedact([...findSecrets(env), key ?? "", ...Object.values(headers)]),
    openSign: () => openSign(vendor, key, parts),
  };
}

/**
 * `custom` may be anywhere, and so may a vendor of the user's own: their names do not make them servers of this
 * machine.
 */
function usualTimeouts({ local, own }: Vendor, name: string): Timeouts {
  return local && !own && name !== "custom" ? LOCAL_TIMEOUTS : MODEL_TIMEOUTS;
}

interface Asked {
  readonly name: string;
  readonly model: string;
  readonly wish: ModelWish;
}

/** The wire to use, and its address. */
async function findAddress(
  { name, model, wish }: Asked,
  env: Environment,
  catalog: Catalog,
): Promise<{ readonly wire: WireName; readonly baseUrl: string }> {
  const vendor = catalog.of(name);
  const given = await addressOf({ name, wish }, env, catalog);
  const provider = wish.provider ?? undefined;
  if (vendor.auth === "azure" || vendor.like === "azure") {
    const { isVersioned, toDeploymentBase } = await import("../providers/azure/deployments.ts");
    if (isVersioned(given)) {
      // Before its v1 API a deployment only had the chat API, unless the settings say otherwise.
      const wire = wireFor(name, provider ?? "openai-chat", catalog);
      return { wire, baseUrl: toDeploymentBase(given, wire, model) };
    }
  }
  const wire = wireFor(name, provider, catalog);
  return { wire, baseUrl: baseForWire(vendor, wire, given) };
}

/** Clouds have an address for each region; the region is in the environment, like the credentials. */
async function addressOf(
  { name, wish }: Keyed,
  env: Environment,
  catalog: Catalog,
): Promise<string> {
  const { auth, baseUrl, baseUrlVariable = "" } = catalog.of(name);
  const isRegional = baseUrl === "" && (auth === "google" || auth === "aws");
  if (wish.url || env[baseUrlVariable] || !isRegional) {
    return baseUrlOf(name, { url: wish.url ?? undefined, env }, catalog);
  }
  if (auth === "google")
    return (await import("../providers/vendors/google-cloud.ts")).vertexBaseUrl(env);
  return (await import("../providers/bedrock/aws-region.ts")).bedrockBaseUrl(env);
}

/** The account that a cloud's requests count against, if the environment names it. */
function payerOf(env: Environment): string | undefined {
  return env["GOOGLE_CLOUD_PROJECT"] ?? env["AWS_PROFILE"] ?? env["AWS_ACCESS_KEY_ID"];
}
