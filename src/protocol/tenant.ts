/** Whose things are those of the command line, of a server that asks for no key, and of keys that name nobody. */
export const DEFAULT_TENANT = "default";
