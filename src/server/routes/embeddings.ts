/** The route of embeddings, for any model that has them. */

import type { EmbeddingsApi } from "../../responses/embeddings/embeddings-api.ts";
import type { Route } from "../route.ts";

export function createEmbeddingRoutes(api: EmbeddingsApi): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/embeddings",
      summary: "Turn texts into vectors; nothing is stored",
      scope: "responses",
      async handle({ json, caller, signal }) {
        const { id, body } = await api.create(await json(), caller, signal);
        return { kind: "json", body, headers: { "x-request-id": id } };
      },
    },
  ];
}
