/** Routes for probes: does the server live, and may it be sent requests. They are open to all. */

import { type Route, toJson } from "../route.ts";
import type { Health } from "../running/health.ts";

export function createHealthRoutes(health: Health): Route[] {
  return [
    {
      method: "GET",
      path: "/",
      summary: "Says that a server answers here; some clients send `HEAD /` first",
      scope: null,
      handle: async () => toJson({ status: "ok" }),
    },
    {
      method: "GET",
      path: "/healthz",
      summary: "Answer 200 while the process lives",
      scope: null,
      handle: async () => toJson({ status: "ok" }),
    },
    {
      method: "GET",
      path: "/readyz",
      summary:
        "Answer 200 while the server takes requests: its record can be written, and it is not stopping",
      scope: null,
      async handle() {
        const problem = await health.check();
        const { notice } = health;
        if (problem === undefined) return toJson({ status: "ready", ...(notice && { notice }) });
        if (problem === "draining") return toJson({ status: "draining" }, 503);
        // The code only: the message would name a file, and this address is open to all.
        return toJson({ status: "not ready", reason: problem }, 503);
      },
    },
  ];
}
