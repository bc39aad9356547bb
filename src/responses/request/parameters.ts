/** The parameters of a request that have an effect; others are listed in the answer as left out. */

import { CreateResponse } from "../../protocol/request.ts";

/** Known to clients of certain servers, without effect here. */
const TOLERATED = ["generate", "client_metadata", "stream_id", "betas"];

export const KNOWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...Object.keys(CreateResponse.shape),
  ...TOLERATED,
]);
