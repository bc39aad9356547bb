/** The common parts of tools that take a URL: the host that a call names, and the answer to it. */

import type { Targets, ToolContext } from "../tool.ts";
import { openWeb, type WebSettings } from "./network/open-web.ts";
import type { WebAnswer } from "./network/web-answer.ts";

/** The network's limit, and time to turn a page into text. */
export const WEB_TOOL_TIMEOUT_MS = 45_000;

/** The host in the client's spelling. An invalid URL names no host, and is refused when it is read. */
export function toTargets(url: string): Targets {
  const host = hostOf(url);
  return host === undefined ? {} : { hosts: [host] };
}

export async function askWeb(
  url: string,
  context: ToolContext,
  settings: WebSettings,
): Promise<WebAnswer> {
  const client = await openWeb(context, settings);
  const asked = hostOf(url);
  return await client.get(url, {
    signal: context.signal,
    accept: "text/html,application/xhtml+xml,text/markdown,text/plain,application/json,*/*;q=0.5",
    // The gate has judged the call's own host, and may have asked for approval.
    allowsHost: (host) => host === asked || context.allowsHost(host),
  });
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const host = new URL(url).hostname.replace(/^\[|\]$|\.$/g, "");
  return host === "" ? undefined : host;
}
