/** Makes an embeddings model usable: the vendor's row, its key, and its form; or several of them. */

import type { Deployment } from "../agent/task.ts";
import { systemClock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import { toUsage } from "../protocol/usage.ts";
import type { EmbeddingModel } from "../providers/embeddings/embedder.ts";
import { EMBEDDED, GGUF, parseModelRef } from "../providers/models/model-ref.ts";
import { findModel } from "../providers/models/models.ts";
import { wireFor } from "../providers/models/provider-names.ts";
import { CATALOG } from "../providers/vendors/catalog.ts";
import { priceOfEmbeddings } from "./hosted-prices.ts";
import { openEndpoint } from "./open-provider.ts";
import type { ModelParts, ModelWish } from "./open-sign.ts";

export type EmbeddingWish = Omit<ModelWish, "think">;

/** Rejects with what is missing (`key_missing`) or not supported (`invalid_request`); sends nothing. */
export async function openEmbeddings(
  wish: EmbeddingWish,
  parts: ModelParts,
): Promise<EmbeddingModel> {
  return wish.deployments
    ? await openSeveral(wish, wish.deployments, parts)
    : await openOne(wish, parts);
}

async function openSeveral(
  { model: meant }: EmbeddingWish,
  deployments: readonly Deployment[],
  parts: ModelParts,
): Promise<EmbeddingModel> {
  const [{ openEach }, { joinEmbeddings, withSameVectors }] = await Promise.all([
    import("./open-each.ts"),
    import("../providers/embeddings/embedding-deployments.ts"),
  ]);
  const opened = await openEach(withSameVectors(deployments, meant), parts, openOne);
  const { retry, clock, random } = parts;
  return joinEmbeddings(
    opened.map(({ one: { model, weight, fallback }, ...more }) => {
      return { ...more, model, weight, isFallback: fallback, contextTokens: undefined };
    }),
    { retry, clock, random },
  );
}

async function openOne(
  wish: Omit<EmbeddingWish, "deployments">,
  parts: ModelParts,
): Promise<EmbeddingModel> {
  const { catalog = CATALOG } = parts;
  const otherwise = wish.url ? "custom" : undefined;
  const { vendor, model } = parseModelRef(wish.model, otherwise, catalog);
  if (vendor === EMBEDDED) {
    const { createEmbeddedEmbeddings } = await import("../providers/embedded/embeddings.ts");
    return createEmbeddedEmbeddings();
  }
  if (vendor === GGUF) {
    const message =
      "Embeddings of GGUF files are not supported in this process. Serve the file with llama-server or Ollama.";
    throw new Failure("invalid_request", message, { param: "model" });
  }
  const [{ embeddingFormOf }, { askEmbeddings }] = await Promise.all([
    import("../providers/embeddings/forms.ts"),
    import("../providers/embeddings/ask-embeddings.ts"),
  ]);
  // Before its key is asked for: none would help.
  const { like, fields } = catalog.of(vendor);
  const wire = wireFor(vendor, wish.provider ?? undefined, catalog);
  const form = embeddingFormOf(like ?? vendor, wire, model);
  const known = findModel(vendor, model, parts.overrides, like);
  const own = { ...fields?.headers, ...known.headers };
  const asked = { name: vendor, model, wish: { ...wish, think: false } };
  const endpoint = await openEndpoint(asked, own, parts);
  const { baseUrl, headers, redact } = endpoint;
  const server = {
    who: vendor,
    form,
    transport: parts.transport,
    baseUrl,
    headers,
    redact,
    sign: await endpoint.openSign(),
    retry: parts.retry,
    clock: systemClock,
    random: Math.random,
  };
  const priceOf = priceOfEmbeddings({ vendor, model, url: baseUrl }, parts.overrides);
  return {
    takesTokens: form.takesTokens,
    costOf: (tokens) => priceOf(toUsage({ input: tokens })),
    embed: (request, call) => askEmbeddings(server, { ...request, model }, call),
  };
}
