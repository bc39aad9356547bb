/** The network of a runtime, opened by whoever needs it first. */

import type { Transport, TransportOptions } from "../providers/http/transport.ts";
import type { ModelParts } from "./open-provider.ts";

export interface Network {
  readonly open: () => Promise<Transport>;
  close(): Promise<void>;
}

/** A transport that is loaded and opened by the first run that needs one: the embedded needs none. */
export function createNetwork(env: ModelParts["env"], options: TransportOptions = {}): Network {
  let opened: Promise<Transport> | undefined;
  return {
    open: () => {
      opened ??= import("../providers/http/transport.ts").then(({ createTransport }) =>
        createTransport(env, options),
      );
      return opened;
    },
    close: async () => (await opened)?.close(),
  };
}
