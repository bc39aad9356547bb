/** The default timeouts for model servers. */

import type { Timeouts } from "./http-answer.ts";

/**
 * A model may think for a minute or two before its first token, and between two; servers of models that
 * think longer send signs of life. A server that sends nothing for so long counts as hanging.
 */
export const MODEL_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 120_000,
  idleMs: 120_000,
};

/** A server on this machine loads the model first, and may read a long prompt without a GPU. */
export const LOCAL_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 600_000,
  idleMs: 300_000,
};
