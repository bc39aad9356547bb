/**
 * The models of the vendors that the settings add: those that the settings list, otherwise those that each server
 * lists.
 */

import type { Clock } from "../../base/clock.ts";
import type { Environment } from "../../base/environment.ts";
import type { Transport } from "../../providers/http/transport.ts";
import { baseForWire } from "../../providers/vendors/base-url.ts";
import type { Catalog } from "../../providers/vendors/catalog.ts";
import { isCloud } from "../../providers/vendors/vendor.ts";
import { createUpstreamModels, type ListModels, type UpstreamModel } from "./upstream-models.ts";

export interface VendorParts {
  readonly catalog: Catalog;
  readonly transport: () => Promise<Transport>;
  readonly env: Environment;
  readonly clock: Clock;
}

/** Under the names that clients ask for, `vendor/model`. All servers are asked at once. */
export function createVendorModels(parts: VendorParts): ListModels {
  const lists = parts.catalog.own.map((vendor) => createList(vendor, parts));
  return async () => (await Promise.all(lists.map((list) => list()))).flat();
}

function createList(vendor: string, parts: VendorParts): ListModels {
  const { models = [], auth, baseUrl, wire, wirePaths } = parts.catalog.of(vendor);
  const toModel = (id: string, created: number): UpstreamModel => ({
    id: `${vendor}/${id}`,
    created,
    owned_by: vendor,
  });
  if (models.length > 0) return async () => models.map((id) => toModel(id, 0));
  // A cloud's list is signed and spelled in a way of its own.
  if (isCloud(auth)) return async () => [];
  // Ollama has the list that all others have below the path of their API.
  const url = baseForWire(
    { wirePaths },
    wirePaths?.["openai-chat"] ? "openai-chat" : wire,
    baseUrl,
  );
  const server = { vendor, url, provider: null, api_key_name: null };
  const list = createUpstreamModels({ ...parts, server });
  return async () => (await list()).map(({ id, created }) => toModel(id, created));
}
