/** How long a model may wait for others in one call. */

/** Where it does not say. */
export const WAIT_MS = 300_000;
/** And at most. */
export const MAX_WAIT_MS = 1_800_000;
