/**
 * Reads from the settings what the tools that a server runs for clients need, the network included.
 */

import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import type { Environment } from "../../base/environment.ts";
import { createRedact, findSecrets } from "../../base/redact.ts";
import { keyIn } from "../../base/stored-keys.ts";
import { toUsage } from "../../protocol/usage.ts";
import type { Embedder } from "../../providers/embeddings/embedder.ts";
import { createOpenAiEmbedder } from "../../providers/embeddings/openai-embeddings.ts";
import type { ModelTarget } from "../../responses/models/model-target.ts";
import type { Config } from "../../runtime/config/config.ts";
import { toPriceOf } from "../../runtime/hosted-prices.ts";
import { createImagesServer } from "../../runtime/images-server.ts";
import type { Network } from "../../runtime/network.ts";
import type { ResponsesSettings } from "../../runtime/open-responses.ts";
import type { RuntimeOptions } from "../../runtime/runtime.ts";

export interface HostedSettings {
  readonly codeInterpreter: boolean;
  /** The folder with the snapshot of a started Python; undefined if nothing may be written. */
  readonly snapshots: string | undefined;
  readonly shell: "sandbox" | "process" | "off";
  readonly applyPatch: "client" | "server";
  readonly images: RemoteModel | undefined;
  readonly embeddings: (RemoteModel & { readonly dimensions: number | undefined }) | undefined;
}

/** A model with an API of its own. */
interface RemoteModel {
  readonly model: string;
  readonly url: string;
  /** Null for a server that asks for no key. */
  readonly api_key_name: string | null;
}

export function toHostedSettings(config: Config): HostedSettings {
  const images = config.get("server.image_model");
  const embeddings = config.get("server.embeddings_model");
  return {
    codeInterpreter: config.get("server.code_interpreter"),
    snapshots: config.get("store") ? join(config.paths.dataDir, "python") : undefined,
    shell: config.get("server.shell"),
    applyPatch: config.get("server.apply_patch"),
    images:
      images === undefined
        ? undefined
        : {
            model: images,
            url: config.get("server.image_url"),
            api_key_name: keyNameOf(config, "image"),
          },
    embeddings:
      embeddings === undefined
        ? undefined
        : {
            model: embeddings,
            url: config.get("server.embeddings_url"),
            api_key_name: keyNameOf(config, "embeddings"),
            dimensions: config.get("server.embeddings_dimensions"),
          },
  };
}

/** If the settings name no key, it is OpenAI's, which goes to OpenAI alone. */
function keyNameOf(config: Config, kind: "image" | "embeddings"): string | null {
  const name = `server.${kind}_api_key_name` as const;
  const url = config.get(`server.${kind}_url`);
  const isOwn = URL.canParse(url) && new URL(url).host === "api.openai.com";
  return config.sourceOf(name) === "default" && !isOwn ? null : config.get(name) || null;
}

/** The caller owns and closes `network`. */
export function openHosted(
  settings: HostedSettings,
  { toolSettings, env = {}, overrides }: Pick<RuntimeOptions, "toolSettings" | "env" | "overrides">,
  network: Network,
): Pick<ResponsesSettings, "machine" | "embedder" | "embeddings"> {
  const python = toolSettings?.python;
  const { shell, images } = settings;
  return {
    machine: {
      interpreter: settings.codeInterpreter
        ? {
            wheels: python?.wheels,
            index: python?.index,
            fetchPackage: python?.fetchPackage,
            snapshots: settings.snapshots,
          }
        : undefined,
      shell: shell === "off" ? undefined : { level: shell, env },
      images: images && {
        ...createImagesServer(images, network, env),
        costOf: toPriceOf(images, overrides),
      },
      patches: settings.applyPatch,
    },
    embedder: openEmbedder(settings, { env, overrides }, network),
    embeddings: settings.embeddings && toEmbeddingTarget(settings.embeddings),
  };
}

/** The model of vector stores as one that clients may ask for embeddings of their own. */
function toEmbeddingTarget({ model, url, api_key_name }: RemoteModel): ModelTarget {
  return { model: `custom/${model}`, provider: "openai-chat", url, api_key_name };
}

function openEmbedder(
  { embeddings }: HostedSettings,
  { env, overrides }: { readonly env: Environment } & Pick<RuntimeOptions, "overrides">,
  network: Network,
): Embedder | undefined {
  if (!embeddings) return undefined;
  const { model, url, api_key_name, dimensions } = embeddings;
  const priceOf = toPriceOf(embeddings, overrides);
  return createOpenAiEmbedder({
    transport: network.open,
    baseUrl: url,
    model,
    dimensions,
    key: api_key_name === null ? undefined : keyIn(env, api_key_name),
    costOf: (tokens) => priceOf(toUsage({ input: tokens })),
    clock: systemClock,
    random: Math.random,
    redact: createRedact(findSecrets(env)),
  });
}
