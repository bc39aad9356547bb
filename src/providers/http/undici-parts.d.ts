/**
 * Undici's parts by their own files. Its entry loads everything it has (fetch, WebSocket, cookies,
 * caches), four times what a dispatcher alone costs at start (bench/start.ts); it has no export map.
 */

declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici";

  export { Agent as default };
}
