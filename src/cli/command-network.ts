/** The network of a command, which ends after one run; a server's stays for days. */

import { createNetwork, type Network } from "../runtime/network.ts";
import type { Io } from "./io.ts";

export function createCommandNetwork({ env }: Io): Network {
  const network = createNetwork(env);
  return {
    ...network,
    async open() {
      const transport = await network.open();
      keepParserPlain();
      return transport;
    },
  };
}

/**
 * The HTTP parser is WebAssembly. V8 would optimise it in the background for streams that a command never sees, and
 * the end of the process waits for that: 80 ms of 150 (bench/start.ts). Call it before connecting, when all code is
 * loaded, because it makes Node compile its own modules again.
 */
function keepParserPlain(): void {
  process.getBuiltinModule("node:v8").setFlagsFromString("--wasm-tiering-budget=18000000");
}
