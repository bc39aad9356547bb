/** The addresses of the server, and what keys may be allowed and limited to. */

import type { OpenedResponses } from "../../src/runtime/responses/open-responses.ts";
import { KEY_LIMITS } from "../../src/server/guard/key.ts";
import { type Route, SCOPES } from "../../src/server/route.ts";
import { createHealthRoutes } from "../../src/server/routes/health.ts";
import { createMetricsRoutes } from "../../src/server/routes/metrics.ts";
import { createModelRoutes } from "../../src/server/routes/models.ts";
import { createRoutes } from "../../src/server/routes.ts";
import { renderCode, renderPage, renderTable } from "./page.ts";

const ERRORS =
  'Errors are always `{"error": {"message", "type", "param", "code"}}`; the codes are in [errors.md](errors.md). A stream that fails says so in an `error` event and in `response.failed` behind it.';

const INJECT =
  "`response.inject` with a `response_id` and an `input` of results answers the calls of agents (`multi_agent`) that wait while others of the team still work: once an agent has all its answers it goes on in the same response. The results are taken all or none; `response.inject.created` says that they are the response's, and with a stored one over a restart too. `response.inject.failed` gives them back with a message: `response_already_completed` means that they belong in another request, `response_not_found` that nothing here waits for them.";

export function renderApiPage(): string {
  const routes = [...createRoutes(NOTHING), ...createOwnRoutes()].map(
    ({ method, path, ...rest }) => [`\`${method} ${path}\``, rest.summary, rest.scope ?? "anybody"],
  );
  const limits = Object.entries(KEY_LIMITS).map(([name, { summary }]) => [
    renderCode(name),
    summary,
  ]);
  return renderPage("The addresses of the server", [
    "`GET /v1/responses` with `Upgrade: websocket` opens a WebSocket: send `response.create`, and read the events of the answer, one a message.",
    INJECT,
    renderTable(["address", "", "scope"], routes),
    ERRORS,
    "## Scopes",
    renderTable(
      ["scope", "what a key with it may do"],
      Object.entries(SCOPES).map(([name, summary]) => [renderCode(name), summary]),
    ),
    "## Limits of a key",
    "`offshoot keys create` sets them. They count by minutes and days of UTC; one that is reached answers 429 and says when to come again.",
    renderTable(["limit", ""], limits),
  ]);
}

function createOwnRoutes(): Route[] {
  return [
    ...createModelRoutes({ routes: { named: [], usual: undefined }, env: {} }),
    ...createHealthRoutes(NOTHING as never),
    ...createMetricsRoutes(async () => []),
  ];
}

/** A page needs the rows, and not what stands behind them. */
const NOTHING = new Proxy({}, { get: () => ({}) }) as OpenedResponses;
