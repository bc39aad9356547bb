/** Probabilities of tokens in the form of servers that copy the fields of OpenAI's API. */

import type { Logprob } from "../protocol/content.ts";
import { list, loose, number, object, type Shape, text } from "./shape.ts";

const TOKEN = { token: text, logprob: number, bytes: loose(list(number)) };

const FIELDS = object({ ...TOKEN, top_logprobs: loose(list(withBoth(object(TOKEN)))) });

const LOGPROB = withBoth(FIELDS);

/** All of them or none: if one is left out, the others can no longer be matched with their tokens. */
export const LOGPROBS: Shape<readonly Logprob[]> = loose(list(LOGPROB));

/** Readers need the token and its probability. Some servers write null for a token without alternatives. */
function withBoth(shape: Shape<unknown>): Shape<Logprob> {
  return {
    check(value) {
      const problem = shape.check(value);
      if (problem !== undefined) return problem;
      const given = value as { token?: unknown; logprob?: unknown; top_logprobs?: unknown };
      if (given.top_logprobs === null) given.top_logprobs = undefined;
      const isWhole = typeof given.token === "string" && typeof given.logprob === "number";
      return isWhole ? undefined : "is incomplete";
    },
  };
}
