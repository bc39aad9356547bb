/** How long a model may wait for other runs in one call. */

/** The default. */
export const WAIT_MS = 300_000;
/** The most. */
export const MAX_WAIT_MS = 1_800_000;
