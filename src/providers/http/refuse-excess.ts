/**
 * Refuses a request with more than its vendor takes, before it is sent. The vendor would refuse it too, but in words
 * about a request that the caller has not written.
 */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { ModelRequest } from "../provider.ts";
import type { Quirks, Wire } from "../wire.ts";

interface Taker {
  readonly vendor: string;
  readonly wire: Pick<Wire, "limits">;
  readonly quirks: Pick<Quirks, "limits">;
}

export function refuseExcess(
  { options, tools }: Pick<ModelRequest, "options" | "tools">,
  { vendor, wire, quirks }: Taker,
): void {
  const { stops, toolNameChars } = { ...wire.limits, ...quirks.limits };
  const count = options?.stop?.length ?? 0;
  if (stops !== undefined && count > stops) {
    const message = `${count} stop sequences are too many: ${vendor} takes ${stops} at most. Leave some out.`;
    throw new Failure("invalid_request", message, { param: "stop" });
  }
  if (toolNameChars === undefined) return;
  for (const tool of tools) {
    if (tool.type !== "function" || tool.name.length <= toolNameChars) continue;
    const message = `The name of the tool \`${clip(tool.name, 140)}\` has ${tool.name.length} characters; ${vendor} takes ${toolNameChars} at most. Give it a shorter name.`;
    throw new Failure("invalid_request", message, { param: "tools" });
  }
}
