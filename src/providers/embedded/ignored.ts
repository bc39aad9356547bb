/** What of a request means nothing to the embedded model, as requests spell it. */

import { omittedMarks, partsOf } from "../cache-marks.ts";
import { keepOptions, omittedOfFormat } from "../known-options.ts";
import type { ModelRequest } from "../provider.ts";
import { isUnseen } from "./attachments.ts";

/** It says the same to the same words: nothing of how to choose them, or whom to bill, has an effect. */
export function ignoredIn(request: ModelRequest): string[] {
  const { temperature, top_p, items } = request;
  const unseen = items.flatMap(partsOf).filter(isUnseen);
  return [
    ...(temperature === undefined ? [] : ["temperature"]),
    ...(top_p === undefined ? [] : ["top_p"]),
    ...keepOptions(request, () => false).dropped,
    ...omittedOfFormat(request),
    ...Object.keys({ ...request.extras, ...request.own }),
    ...new Set(unseen.map(({ type }) => type)),
    ...omittedMarks(request),
  ];
}
