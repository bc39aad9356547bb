/** Where a key may be stored; in a file of its own, because every command loads the table of settings. */

/** `auto` is the keyring if one answers, otherwise a file. */
export const KEY_STORES = ["auto", "file", "keyring"] as const;
export type KeyStoreName = (typeof KEY_STORES)[number];
