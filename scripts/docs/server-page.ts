/** The addresses of the server, and what keys may be allowed and limited to. */

import { readFileSync } from "node:fs";
import { FAILURE_RULES, type FailureRule } from "../../src/providers/deployments/failure-rules.ts";
import type { OpenedResponses } from "../../src/responses/api/open-responses.ts";
import { KEY_LIMITS } from "../../src/server/guard/key.ts";
import { type Route, SCOPES } from "../../src/server/route.ts";
import { createAdminRoutes } from "../../src/server/routes/admin.ts";
import { createConsoleRoutes } from "../../src/server/routes/console.ts";
import { createHealthRoutes } from "../../src/server/routes/health.ts";
import { createMcpRoutes } from "../../src/server/routes/mcp.ts";
import { createMetricsRoutes } from "../../src/server/routes/metrics.ts";
import { createModelRoutes } from "../../src/server/routes/models.ts";
import { createOpenApiRoutes } from "../../src/server/routes/openapi.ts";
import { createToolRoutes } from "../../src/server/routes/tools.ts";
import { createRecordRoutes, createRoutes } from "../../src/server/routes.ts";
import { UNSERVED } from "../../src/server/unserved.ts";
import { renderCode, renderPage, renderTable } from "./page.ts";

const ERRORS = [
  'Errors are always `{"error": {"message", "type", "param", "code"}}`; the codes are in [errors.md](errors.md). Every stream ends with one terminal event and `[DONE]`. A stream that fails sends an `error` event (its fields flat and under `error`) and then `response.failed`; so does a stream whose record cannot be written, or that the server has no time left to finish. If a full disk has no room for the end of a stored response either, the record shows it as `in_progress` until there is room. Then the response ends as `failed` if a client was told so. Otherwise the server runs it again, once.',
  "If the process that writes an answer dies, another one asks the model again. The finished response, its `output_text`, and all later turns have only finished items. A stream that was already sent an item of the interrupted turn sees that item end `incomplete`. Sequence numbers continue without gaps; the `output_index` of such an item is missing from the final object.",
].join("\n\n");

const INJECT =
  "`response.inject` with a `response_id` and an `input` of results answers the calls of agents (`multi_agent`) that wait while others of the team still work: once an agent has all its answers it continues in the same response. The results are taken all or none; `response.inject.created` says that they are the response's, and with a stored one after a restart too. `response.inject.failed` returns them with a message: `response_already_completed` means that they belong in another request, `response_not_found` that nothing here waits for them.";

const OWN_FIELDS =
  "Requests for answers take one field that is not in the published API: `options`, fields of the model's vendor ([options.md](options.md)). Answers have one: `offshoot: {\"ignored\": [...]}` names what was left out of the request; it is missing if nothing was. In a streamed chat completion it is in the chunk with the `finish_reason`. `metadata` is the client's own; of what is left out, only fields and kinds of tools that the API does not know at all are named there as well, under `offshoot_ignored`, and only while there is room for a pair.";

export function renderApiPage(): string {
  const all = [...createRoutes(NOTHING), ...createRecordRoutes(NOTHING as never)];
  const routes = [...all, ...createOwnRoutes()].map(({ method, path, ...rest }) => [
    `\`${method} ${path}\``,
    rest.summary,
    rest.scope ?? "no key needed",
  ]);
  const limits = Object.entries(KEY_LIMITS).map(([name, { summary }]) => [
    renderCode(name),
    summary,
  ]);
  return renderPage("The addresses of the server", [
    "On this page you find every address of the server, what a key needs to use it, and the limits that a key can have. `GET /openapi.json` of your server describes the same for programs.",
    [
      "```sh",
      "curl http://127.0.0.1:8484/openapi.json                       # all addresses, for programs",
      'curl http://127.0.0.1:8484/v1/responses -H "authorization: Bearer osk_…" \\',
      '  -d \'{"model": "embedded/offline", "input": "compute 6*7"}\'',
      "```",
    ].join("\n"),
    "`GET /v1/responses` with `Upgrade: websocket` opens a WebSocket: send `response.create`, and read the events of the answer, one in each message.",
    INJECT,
    OWN_FIELDS,
    renderTable(["address", "", "scope"], routes),
    ERRORS,
    "## What is not served",
    "Addresses of the published API, and of similar servers, that are not here answer 404 (`not_found`) and say what to use instead: [server.md](server.md#not-provided) has the list.",
    "## Scopes",
    renderTable(
      ["scope", "what a key with it may do"],
      Object.entries(SCOPES).map(([name, summary]) => [renderCode(name), summary]),
    ),
    "## Limits of a key",
    "`offshoot keys create` sets them, and `offshoot keys update` changes or removes them. They count by minutes and days of UTC; one that is reached answers 429 and says when to try again.",
    renderTable(["limit", ""], limits),
  ]);
}

function createOwnRoutes(): Route[] {
  return [
    ...createModelRoutes({ routes: { named: [], usual: undefined }, env: {} }),
    ...createConsoleRoutes(NOTHING as never).filter(({ path }) => !path.includes("/:a")),
    ...createAdminRoutes(NOTHING as never),
    ...createMcpRoutes(NOTHING as never),
    ...createToolRoutes(NOTHING as never),
    ...createHealthRoutes(NOTHING as never),
    ...createMetricsRoutes(async () => []),
    ...createOpenApiRoutes({ routes: [], prefix: "" }),
  ];
}

/** A page needs the rows, and not the code that they call. */
const NOTHING = new Proxy({}, { get: () => ({}) }) as OpenedResponses;

const NEXT: Readonly<Record<FailureRule["next"], string>> = {
  any: "yes",
  larger: "one with a larger window",
  none: "no: the client gets the failure",
};
const COOLDOWN: Readonly<Record<FailureRule["health"], string>> = {
  counts: "counts",
  at_once: "at once",
  well: "no: it works",
  unknown: "no: nothing is learned of it",
};

/** Features beside addresses that other gateways have, and this server does not. */
const NOT_PROVIDED: readonly (readonly [string, string])[] = [
  [
    "a cache of answers",
    "Vendors cache prompts ([providers.md](providers.md#what-each-vendor-has-natively), `caching`). A request that is sent again with its `Idempotency-Key` gets the answer that was made. Cache equal questions in the client, or in a proxy in front",
  ],
  [
    "hooks that check requests and answers (guardrails)",
    "Use those of the vendor: `options: {guardrailConfig: ...}` on Bedrock, `safetySettings` on Gemini, `moderation` on OpenAI. For a check of your own, put a proxy in front, or name a server of yours in `server.models` that checks and asks the model",
  ],
  [
    "teams and users with roles",
    "A key has a tenant, scopes, models and budgets ([Who may use it](#who-may-use-it)). Give each team a tenant and each member a key; `offshoot runs cost --by tenant`, `--by key` or `--by user` adds up. A budget belongs to a key, not to a tenant",
  ],
  [
    "single sign-on",
    "Clients show a key and nothing else. Put a proxy that signs people in (such as oauth2-proxy) in front, and let it add the key of the person who signed in",
  ],
  [
    "a Helm chart",
    "[deploy/kubernetes](../deploy/kubernetes) has plain manifests, which `kubectl apply` takes ([scaling.md](scaling.md#kubernetes))",
  ],
  [
    "an administration page or API",
    "Use `offshoot keys`, `offshoot runs` and `offshoot audit` on the server's machine, and `GET /metrics` for dashboards",
  ],
];

/** Written by hand, except for the blocks between two such lines. */
export function renderServerPage(): string {
  const page = readFileSync(new URL("../../../docs/server.md", import.meta.url), "utf8");
  const rules = FAILURE_RULES.map(({ told, next, health }) => [told, NEXT[next], COOLDOWN[health]]);
  const absent = [
    ...UNSERVED.map(({ path, what, instead }) => [`${what} (${renderCode(path)})`, instead]),
    ...NOT_PROVIDED.map(([what, instead]) => [what, `${instead}.`]),
  ];
  const blocks: readonly (readonly [string, string])[] = [
    [
      "what failures mean",
      renderTable(["the deployment", "the next one is asked", "its cooldown"], rules),
    ],
    ["what is not provided", renderTable(["what is asked for", "what to use instead"], absent)],
  ];
  return blocks.reduce((text, [name, table]) => fillBlock(text, name, table), page);
}

function fillBlock(page: string, name: string, table: string): string {
  const block = new RegExp(`(<!-- Made by \`npm run docs\`: ${name} -->\\n)[^]*?(<!-- end -->)`);
  if (!block.test(page)) throw new Error(`docs/server.md has no place for ${name}.`);
  return page.replace(block, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`);
}
