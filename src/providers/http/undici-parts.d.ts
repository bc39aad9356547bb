/**
 * Undici's parts by their own files. Its entry loads everything (fetch, WebSocket, cookies, caches), which
 * takes four times as long at start as a dispatcher alone (bench/start.ts); it has no export map.
 */

declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici";

  export { Agent as default };
}
