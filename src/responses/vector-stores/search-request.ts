/** The request of a search in vector stores: its queries, filters and ranking options. */

import { z } from "zod";
import { Failure } from "../../base/failure.ts";
import { choose, JsonValue, open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";
import { type Filter, parseFilter } from "./filters.ts";

export interface SearchWish {
  readonly queries: readonly string[];
  readonly maxResults: number;
  readonly filter: Filter | undefined;
  /** Results with a smaller score are left out. */
  readonly scoreThreshold: number;
  readonly weights: Weights;
}

export interface Weights {
  readonly embedding: number;
  readonly text: number;
}

const RankingOptions = open({
  ranker: z.string().nullable().optional(),
  score_threshold: z.number().min(0).max(1).nullable().optional(),
  hybrid_search: open({ embedding_weight: z.number().min(0), text_weight: z.number().min(0) })
    .nullable()
    .optional(),
});

/** Fields that requests and tools have in common. */
const ranking = {
  max_num_results: z.int().min(1).max(50).nullable().optional(),
  ranking_options: RankingOptions.nullable().optional(),
  filters: JsonValue.nullable().optional(),
};

const RankingFields = open(ranking);

const Query = z.string();
const Queries = z.array(Query).min(1).max(50);

export const SearchRequest = open({
  query: choose<string | string[]>((value) => (Array.isArray(value) ? Queries : Query), {
    among: [Query, Queries],
  }),
  rewrite_query: z.boolean().nullable().optional(),
  ...ranking,
});

/** Rejects with `invalid_request`, naming the field at fault. */
export function parseWish(
  fields: unknown,
  queries: readonly string[],
  maxResults: number,
): SearchWish {
  const asked = parseAs(RankingFields, fields, "request");
  const { max_num_results, ranking_options, filters } = asked;
  const weights = ranking_options?.hybrid_search;
  if (weights && weights.embedding_weight + weights.text_weight <= 0) {
    const param = "ranking_options.hybrid_search";
    throw new Failure("invalid_request", `\`${param}\` must have a weight above 0.`, { param });
  }
  return {
    queries,
    maxResults: max_num_results ?? maxResults,
    filter: filters ? parseFilter(filters) : undefined,
    scoreThreshold: ranking_options?.score_threshold ?? 0,
    weights: { embedding: weights?.embedding_weight ?? 1, text: weights?.text_weight ?? 1 },
  };
}
