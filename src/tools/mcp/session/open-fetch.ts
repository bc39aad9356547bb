/** The network of MCP servers and their logins: a fetch that obeys the proxy variables. */

import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { EnvHttpProxyAgent, fetch as send } from "undici";
import type { Environment } from "../../../base/environment.ts";

export interface OpenedFetch {
  readonly fetch: FetchLike;
  /** Closes all connections, even those in use. */
  close(): Promise<void>;
}

interface FetchLimits {
  /** The longest time of any request. Requests have their own limits elsewhere. */
  readonly longestMs: number;
  /** The authorities to trust, in place of the runtime's. */
  readonly ca: readonly string[] | undefined;
}

export function openFetch(env: Environment, { longestMs, ca }: FetchLimits): OpenedFetch {
  const tls = ca ? { ca: [...ca] } : undefined;
  const httpProxy = env["http_proxy"] ?? env["HTTP_PROXY"];
  const httpsProxy = env["https_proxy"] ?? env["HTTPS_PROXY"];
  const noProxy = env["no_proxy"] ?? env["NO_PROXY"];
  const dispatcher = new EnvHttpProxyAgent({
    headersTimeout: longestMs + SLACK_MS,
    // A stream of events may be silent for any time.
    bodyTimeout: 0,
    ...(tls ? { connect: tls, requestTls: tls, proxyTls: tls } : {}),
    ...(httpProxy ? { httpProxy } : {}),
    ...(httpsProxy ? { httpsProxy } : {}),
    ...(noProxy ? { noProxy } : {}),
  });
  // The package's types of a request and those of Node differ only in name.
  const request = send as unknown as (url: string | URL, init: object) => Promise<Response>;
  return {
    fetch: (url, init) => request(url, { ...init, dispatcher }),
    close: () => dispatcher.destroy(),
  };
}

const SLACK_MS = 60_000;
