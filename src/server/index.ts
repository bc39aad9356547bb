/** `offshoot/server`: the whole server for programs that have an HTTP server of their own. */

export { createServerApp, type ServerApp, type ServerAppOptions } from "./embedded/server-app.ts";
export type { KeyWish } from "./guard/keys.ts";
export type { CallerOf, OwnCaller } from "./guard/own-callers.ts";
export type { Scope } from "./route.ts";
