/** How likely tokens were, as servers that copy the fields of OpenAI's API write it. */

import type { Logprob } from "../protocol/content.ts";
import { list, loose, number, object, type Shape, text } from "./shape.ts";

const BYTES = loose(list(number));

const FIELDS = object({
  token: text,
  logprob: number,
  bytes: BYTES,
  top_logprobs: loose(list(object({ token: loose(text), logprob: loose(number), bytes: BYTES }))),
});

const LOGPROB: Shape<Logprob> = {
  check(value) {
    const problem = FIELDS.check(value);
    if (problem !== undefined) return problem;
    const { token, logprob } = value as Partial<Logprob>;
    return typeof token === "string" && typeof logprob === "number" ? undefined : "is incomplete";
  },
};

/** All of them or none: with one left out, nobody could tell which token another one is of. */
export const LOGPROBS: Shape<readonly Logprob[]> = loose(list(LOGPROB));
