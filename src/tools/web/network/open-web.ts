/** The run's web client. Its rate limit and its knowledge of robots.txt belong to the run. */

import { type Clock, systemClock } from "../../../base/clock.ts";
import type { Environment } from "../../../base/environment.ts";
import type { ToolContext } from "../../tool.ts";
import type { ResolveHost } from "./resolve-host.ts";
import type { Dial } from "./web-answer.ts";
import type { WebClient } from "./web-client.ts";

export interface WebSettings {
  /** Sent with every request: `offshoot/1.2.3`. */
  readonly userAgent: string;
  /** `web_private_hosts`. */
  readonly privateHosts: readonly string[];
  /** `web_robots`. */
  readonly respectRobots: boolean;
  /** The environment with the proxies, if `web_proxy` is on. */
  readonly proxies?: Environment | undefined;
  /** The authorities to trust in place of the runtime's. Called at the first use. */
  trusted?(): readonly string[] | undefined;
  readonly clock?: Clock;
  readonly resolve?: ResolveHost;
  readonly dial?: Dial;
}

export function openWeb(context: ToolContext, settings: WebSettings): Promise<WebClient> {
  return context.scope.keep("web", async () => {
    const { createWebClient } = await import("./web-client.ts");
    const { resolveHost } = await import("./resolve-host.ts");
    return createWebClient({
      clock: systemClock,
      resolve: resolveHost,
      ...settings,
      ca: settings.trusted?.(),
    });
  });
}
