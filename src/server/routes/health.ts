/** Whether the server lives, and whether it is to be sent requests. Anybody may ask. */

import { type Route, toJson } from "../route.ts";
import type { Health } from "../running/health.ts";

export function createHealthRoutes(health: Health): Route[] {
  return [
    {
      method: "GET",
      path: "/",
      summary: "That something answers here: clients look with `HEAD /` before they ask",
      scope: null,
      handle: async () => toJson({ status: "ok" }),
    },
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
        if (problem === "draining") return toJson({ status: "draining" }, 503);
        // Its code and no more: the message names a file, and anybody may ask.
        return toJson({ status: "not ready", reason: problem }, 503);
      },
    },
  ];
}
