/** Whether the server lives, and whether it is to be sent requests. Anybody may ask. */

import { type Route, toJson } from "../route.ts";
import type { Health } from "../running/health.ts";

export function createHealthRoutes(health: Health): Route[] {
  return [
    {
      method: "GET",
      path: "/healthz",
      summary: "Whether the process lives",
      scope: null,
      handle: async () => toJson({ status: "ok" }),
    },
    {
      method: "GET",
      path: "/readyz",
      summary: "Whether it takes requests: its record can be written, and it is not about to stop",
      scope: null,
      async handle() {
        const problem = await health.check();
        if (problem === undefined) return toJson({ status: "ready" });
        // What is wrong with the record is for the operator's log and not for anybody.
        return toJson({ status: problem === "draining" ? "draining" : "not ready" }, 503);
      },
    },
  ];
}
