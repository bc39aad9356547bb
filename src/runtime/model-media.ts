/** The media that the vendor of a model reads itself: addresses of images and files, and kinds of documents. */

import { EMBEDDED, GGUF, parseModelRef } from "../providers/models/model-ref.ts";
import { readsAddress } from "../providers/own-addresses.ts";
import { CATALOG, type Catalog } from "../providers/vendors/catalog.ts";
import type { ReadsDocuments } from "../responses/media/document-text.ts";
import type { TakesUrls, VendorMedia } from "../responses/media/media-provider.ts";
import type { ModelTarget } from "../responses/models/model-target.ts";

type Addressed = Pick<ModelTarget, "model" | "provider" | "url" | "deployments">;

export function toVendorMedia(target: Addressed, catalog: Catalog | undefined): VendorMedia {
  const all = (target.deployments ?? [target]).map((one) => readsDocuments(one, catalog));
  return {
    takes: takesUrls(target, catalog),
    readsItself: readsItself(target, catalog),
    reads: (mediaType) => all.every((one) => one(mediaType)),
  };
}

/**
 * Public vendors that fetch images and files by address. A server of the operator's own never gets an address from a
 * client: it may be in a network with private addresses.
 */
export function takesUrls(target: Addressed, catalog: Catalog = CATALOG): TakesUrls {
  const { model, provider, url, deployments } = target;
  // Each of them must be able to, because any of them may answer.
  if (deployments) {
    const all = deployments.map((one) => takesUrls(one, catalog));
    return { images: all.every(({ images }) => images), files: all.every(({ files }) => files) };
  }
  const { vendor } = parseModelRef(model, url ? "custom" : undefined, catalog);
  // The embedded model fetches nothing. It reads files of text and ignores images.
  if (vendor === EMBEDDED) return { images: true, files: false };
  if (vendor === GGUF) return { images: true, files: true };
  const row = catalog.of(vendor);
  if (url || row.local) return { images: false, files: false };
  return FETCHING[provider ?? row.wire] ?? { images: false, files: false };
}

const FETCHING: Readonly<Record<string, TakesUrls>> = {
  "openai-responses": { images: true, files: true },
  "openai-chat": { images: true, files: false },
  anthropic: { images: true, files: true },
  cohere: { images: true, files: false },
};

/** Also at an address of the operator's own: no private address is sent, and no other part could read the file. */
export function readsItself(
  target: Addressed,
  catalog: Catalog = CATALOG,
): (url: string) => boolean {
  const { model, provider, url, deployments } = target;
  if (deployments) {
    const all = deployments.map((one) => readsItself(one, catalog));
    return (address) => all.every((reads) => reads(address));
  }
  const { vendor } = parseModelRef(model, url ? "custom" : undefined, catalog);
  if (vendor === EMBEDDED || vendor === GGUF) return () => false;
  const wire = provider ?? catalog.of(vendor).wire;
  return (address) => readsAddress(wire, address);
}

/** Which documents a model's API is known to read; most read PDFs. */
function readsDocuments(
  { model, provider, url }: Addressed,
  catalog: Catalog = CATALOG,
): ReadsDocuments {
  const { vendor } = parseModelRef(model, url ? "custom" : undefined, catalog);
  if (vendor === EMBEDDED) return () => true;
  const wire = vendor === GGUF ? "ollama" : (provider ?? catalog.of(vendor).wire);
  const known = DOCUMENTS[wire] ?? PDF;
  return (mediaType) => known.test(mediaType);
}

const PDF = /^application\/pdf$/;
const NONE = /^(?!)/;
const DOCUMENTS: Readonly<Record<string, RegExp>> = {
  "openai-responses": /./,
  bedrock: /^application\/(pdf|vnd\.openxmlformats-officedocument\.wordprocessingml\.)/,
  cohere: NONE,
  ollama: NONE,
  llamacpp: NONE,
};
