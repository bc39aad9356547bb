/**
 * A stand-in for the web: names with public addresses, and one server on the loopback for all of them.
 * Records every address that is dialled and every question to the resolver.
 */

import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "../../../src/base/clock.ts";
import type { GetOptions } from "../../../src/tools/web/network/web-answer.ts";
import {
  createWebClient,
  type WebClient,
  type WebClientParts,
} from "../../../src/tools/web/network/web-client.ts";
import { patience } from "../../patience.ts";

/** A public address that stands for some server. */
export const PUBLIC = "93.184.216.34";

export interface FakeWeb extends AsyncDisposable {
  readonly client: WebClient;
  /** The parts of the client, to make another one. */
  readonly parts: WebClientParts;
  /** `address:port`, in the order of connections. */
  readonly dialled: string[];
  readonly resolved: string[];
  /** `host path`, in the order in which the server got them. */
  readonly asked: string[];
  readonly requests: IncomingMessage[];
}

export interface FakeWebOptions {
  readonly answer: RequestListener;
  /** Answers one after the other, the last for ever. Names that are not here have a public address. */
  readonly names?: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly parts?: Partial<WebClientParts>;
}

export async function startWeb({
  answer,
  names = {},
  parts = {},
}: FakeWebOptions): Promise<FakeWeb> {
  const dialled: string[] = [];
  const resolved: string[] = [];
  const asked: string[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    asked.push(`${request.headers.host} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const all: WebClientParts = {
    clock: systemClock,
    userAgent: "offshoot/test",
    privateHosts: [],
    respectRobots: false,
    async resolve(host) {
      const count = resolved.push(host);
      const answers = names[host] ?? [[PUBLIC]];
      const before = resolved.slice(0, count - 1).filter((one) => one === host).length;
      return answers[Math.min(before, answers.length - 1)] ?? [];
    },
    dial(address, wanted) {
      dialled.push(`${address}:${wanted}`);
      return { host: "127.0.0.1", port };
    },
    ...parts,
  };
  return {
    client: createWebClient(all),
    parts: all,
    dialled,
    resolved,
    asked,
    requests,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
}

export function asking(options: Partial<GetOptions> = {}): GetOptions {
  return { signal: patience(), allowsHost: () => true, ...options };
}
