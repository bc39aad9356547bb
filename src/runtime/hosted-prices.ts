/** The prices of embeddings and pictures, if they are known. */

import type { Usage } from "../protocol/usage.ts";
import { costOf, findModel, type ModelOverride } from "../providers/models/models.ts";
import { isVendor, vendorOf } from "../providers/vendors/catalog.ts";

/** US dollars for a million tokens, as published; the table of models has those that answer. */
const EMBEDDINGS: Readonly<Record<string, number>> = {
  "text-embedding-3-small": 0.02,
  "text-embedding-3-large": 0.13,
  "text-embedding-ada-002": 0.1,
  "gemini-embedding-001": 0.15,
  "mistral-embed": 0.1,
  "codestral-embed": 0.15,
  "embed-v4.0": 0.12,
  "embed-english-v3.0": 0.1,
  "embed-multilingual-v3.0": 0.1,
  "amazon.titan-embed-text-v2:0": 0.02,
  "amazon.titan-embed-text-v1": 0.1,
  "cohere.embed-english-v3": 0.1,
  "cohere.embed-multilingual-v3": 0.1,
};

const LOCAL = /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\])/;

/**
 * A server of the user's own costs nothing. For others the price is from the settings (`models`), the table, or the
 * list here; undefined if none has it.
 */
export function toPriceOf(
  { model, url }: { readonly model: string; readonly url: string },
  overrides: readonly ModelOverride[] | undefined,
): (usage: Usage) => number | undefined {
  const host = URL.canParse(url) ? new URL(url).host : "";
  if (LOCAL.test(host)) return () => 0;
  const known = findModel(host === "api.openai.com" ? "openai" : "custom", model, overrides);
  const listed = EMBEDDINGS[model];
  return (usage) =>
    costOf(known, usage) ??
    (listed === undefined ? undefined : (usage.input_tokens * listed) / 1_000_000);
}

/**
 * The price of embeddings of a model that clients name: a vendor's row in a table of chat models says nothing of it.
 */
export function priceOfEmbeddings(
  { vendor, model, url }: { readonly vendor: string; readonly model: string; readonly url: string },
  overrides: readonly ModelOverride[] | undefined,
): (usage: Usage) => number | undefined {
  const own = findModel(vendor, model, overrides);
  if (!isVendor(vendor) && own.price) return (usage) => costOf(own, usage);
  if (vendor === "custom" || !isVendor(vendor)) return toPriceOf({ model, url }, overrides);
  if (vendorOf(vendor).local) return () => 0;
  const isOwn = own.price !== findModel(vendor, model).price;
  const listed = EMBEDDINGS[model];
  return (usage) => {
    if (isOwn) return costOf(own, usage);
    return listed === undefined ? undefined : (usage.input_tokens * listed) / 1_000_000;
  };
}
