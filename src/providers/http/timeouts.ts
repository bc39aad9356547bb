/** How long model servers may take, where nothing is set. */

import type { Timeouts } from "./transport.ts";

/**
 * A model may think for a minute or two before its first word, and between two; servers of models that
 * think longer tell that they live. One that says nothing for so long is taken for hanging.
 */
export const MODEL_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 120_000,
  idleMs: 120_000,
};

/** A server on this machine loads the model first, and may read a long prompt without a graphics card. */
export const LOCAL_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 600_000,
  idleMs: 300_000,
};
