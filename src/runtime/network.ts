/** The network of a runtime, opened when it is first needed. */

import type { Transport, TransportOptions } from "../providers/http/transport.ts";
import type { ModelParts } from "./open-sign.ts";

export interface Network {
  readonly open: () => Promise<Transport>;
  close(): Promise<void>;
}

/** A transport that is loaded and opened by the first run that needs one: the embedded model needs none. */
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

/**
 * A transport whose answers have at most `maxBytes`, unless a request says otherwise. A caller with a transport of its
 * own, such as `offshoot run`, keeps the limit of the settings this way.
 */
export function limitAnswers(open: Network["open"], maxBytes: number | undefined): Network["open"] {
  if (maxBytes === undefined) return open;
  let limited: Promise<Transport> | undefined;
  return () => {
    limited ??= open().then(({ send, close }) => ({
      send: (request) => send({ ...request, maxBytes: request.maxBytes ?? maxBytes }),
      close,
    }));
    return limited;
  };
}
