/** Routes of sessions: conversations that continue over several runs. */

import type { RecordApi } from "../../runtime/record/record-api.ts";
import type { Route } from "../route.ts";
import { toPrivate } from "./runs.ts";
import { idOf, viewerOf } from "./viewer.ts";

export function createSessionRoutes(record: RecordApi): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/sessions",
      scope: "runs",
      summary: "List sessions, the last used first",
      handle: async (call) => toPrivate(await record.sessions(viewerOf(call), call.query)),
    },
    {
      method: "GET",
      path: "/v1/sessions/:id",
      scope: "runs",
      summary: "One session: its runs and its turns",
      handle: async (call) => toPrivate(await record.session(viewerOf(call), idOf(call))),
    },
  ];
}
