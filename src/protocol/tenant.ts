/** The tenant of the command line, of a server without keys, and of keys that name no tenant. */
export const DEFAULT_TENANT = "default";
