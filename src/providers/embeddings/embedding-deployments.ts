/**
 * One embedding model for a name that stands for several deployments. A request is asked of one of them as a
 * whole, and of the next one when that fails.
 */

import { type Askable, askAny, type DeploymentsOptions } from "../deployments/ask-any.ts";
import type { EmbeddingModel } from "./embedder.ts";

export interface EmbeddingDeployment extends Askable {
  readonly known: EmbeddingModel;
}

/** All of them make the same vectors: whoever mixed those of two models would find nothing again. */
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

/** Undefined as soon as one of them has an unknown price: then nobody knows the most. */
function toMost(deployments: readonly EmbeddingDeployment[], tokens: number): number | undefined {
  const costs = deployments.map(({ known }) => known.costOf(tokens));
  return costs.reduce<number | undefined>(
    (most, cost) => (most === undefined || cost === undefined ? undefined : Math.max(most, cost)),
    0,
  );
}

/**
 * Those whose model has the same name as the one that is meant, whoever serves it. Another model's vectors
 * cannot be compared with its own, so no fallback to them is made.
 */
export function withSameVectors<One extends { readonly model: string }>(
  deployments: readonly One[],
  meant: string,
): readonly One[] {
  return deployments.filter(({ model }) => plainName(model) === plainName(meant));
}

/** `bge-m3` of `custom/BAAI/bge-m3`. */
function plainName(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1).toLowerCase();
}
