/** The headers that all addresses of the Messages API share: the version of a request, and the id of its answer. */

import type { IncomingMessage } from "node:http";
import { Failure } from "../base/failure.ts";
import { makeId } from "../base/ids.ts";
import { clip } from "../base/text.ts";
import { MESSAGES_VERSIONS } from "../protocol/messages-blocks.ts";
import type { JsonAnswer } from "./route.ts";

type Headed = Pick<IncomingMessage, "headers">;

/** Some addresses are shared with another API. Clients of the Messages API name its version. */
export function speaksMessages({ headers }: Headed): boolean {
  return "anthropic-version" in headers;
}

/** Rejects a version that was never published, as the published API does. None may be named. */
export function checkVersion({ headers }: Headed): void {
  const version = headers["anthropic-version"];
  if (version === undefined || MESSAGES_VERSIONS.some((known) => known === version)) return;
  const message = `anthropic-version: "${clip(String(version), 40)}" is not a valid version. Send 2023-06-01.`;
  throw new Failure("invalid_request", message);
}

/** With an id, by which a client can report an answer. */
export function toMessagesJson(body: object): JsonAnswer {
  return { kind: "json", body, headers: toIdHeaders(makeId("req")) };
}

export function toIdHeaders(id: string): Record<string, string> {
  return { "request-id": id, "x-request-id": id };
}
