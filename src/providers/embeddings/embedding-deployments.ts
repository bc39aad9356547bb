/**
 * One embedding model for a name with several deployments. A whole request goes to one of them, and to the
 * next one if that fails.
 */

import { type Askable, askAny, type DeploymentsOptions } from "../deployments/ask-any.ts";
import type { EmbeddingModel } from "./embedder.ts";

export interface EmbeddingDeployment extends Askable {
  readonly known: EmbeddingModel;
}

/** Joins deployments that make the same vectors: a search among vectors of two models would find nothing. */
export function joinEmbeddings(
  deployments: readonly EmbeddingDeployment[],
  options: DeploymentsOptions,
): EmbeddingModel {
  return {
    takesTokens: deployments.every(({ known }) => known.takesTokens),
    costOf(tokens, deployment) {
      const answered = deployments.find(({ label }) => label === deployment);
      return answered ? answered.known.costOf(tokens) : toMost(deployments, tokens);
    },
    async embed(request, { signal, told }) {
      const asking = { deployments, options, stay: undefined, call: { signal } };
      const { out, health } = await askAny(asking, ({ known, label }, { onSend }) => {
        onSend?.();
        return known.embed(request, {
          signal,
          told: (batch, tokens) => told?.(batch, tokens, label),
        });
      });
      health.end("well");
      return out;
    },
  };
}

/** The highest price; undefined if one of them is unknown. */
function toMost(deployments: readonly EmbeddingDeployment[], tokens: number): number | undefined {
  const costs = deployments.map(({ known }) => known.costOf(tokens));
  return costs.reduce<number | undefined>(
    (most, cost) => (most === undefined || cost === undefined ? undefined : Math.max(most, cost)),
    0,
  );
}

/**
 * The deployments whose model has the same name as the requested one, at any vendor. Vectors of another
 * model cannot be compared, so there is no fallback to one.
 */
export function withSameVectors<One extends { readonly model: string }>(
  deployments: readonly One[],
  meant: string,
): readonly One[] {
  return deployments.filter(({ model }) => plainName(model) === plainName(meant));
}

/** The plain name of a model: `bge-m3` of `custom/BAAI/bge-m3`. */
function plainName(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1).toLowerCase();
}
