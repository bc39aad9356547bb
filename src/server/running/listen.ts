/** Opens a port: the address at which a server listens, or the reason why it cannot. */

import type { AddressInfo, Server } from "node:net";
import { Failure } from "../../base/failure.ts";

export interface ListenAddress {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

/** Resolves with the port. Rejects with `invalid_request` if it cannot listen. */
export function listen(server: Server, { host, port }: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException): void => reject(toRefusal(cause, host, port));
    server.once("error", onError);
    server.listen(port, host, () => {
      server.off("error", onError);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** The host as written in an address: IPv6 is in brackets. */
export function toUrlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "something else listens there. Choose another `--port`",
  EACCES: "it needs more rights. Choose a `--port` of 1024 or more",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "there is no such host",
};

function toRefusal(cause: NodeJS.ErrnoException, host: string, port: number): Failure {
  const reason = REASONS[cause.code ?? ""] ?? cause.message;
  const message = `The server cannot listen at ${toUrlHost(host)}:${port}: ${reason}.`;
  return new Failure("invalid_request", message, { cause });
}
