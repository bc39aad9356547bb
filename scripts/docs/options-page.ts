/** A vendor's own fields: where they are written, which are accepted, and who may send them. */

import { OWNED_FIELDS } from "../../src/protocol/own-options.ts";
import { CARRIED_FIELDS, SAMPLING_FIELDS } from "../../src/providers/http/carried-fields.ts";
import { DEARER, MOST_BESIDE_USD } from "../../src/providers/models/told-cost.ts";
import { VENDOR_NAMES, vendorOf } from "../../src/providers/vendors/catalog.ts";
import { renderCode, renderFence, renderPage, renderTable } from "./page.ts";

const PLACES = [
  ["settings, for a model", "`models.VENDOR/MODEL.options`", "every call of that model"],
  ["settings", "`options`, `OFFSHOOT_OPTIONS`", "every model call of the process"],
  ["command line", "`--options JSON`", "every model call of the run and its subagents"],
  ["agent file", "`options:` in the front matter", "the model calls of that agent"],
  ["library", "`options` of `createRuntime` and of `runtime.run`", "all runs; one run"],
  ["server", "`options` of `POST /v1/responses` and `/v1/chat/completions`", "that response"],
  ["runner", "`options` of the payload of `offshoot subagent`", "that run"],
];

const AGENT_FILE = `---
name: reviewer
description: Reviews a change and says what is wrong.
model: openrouter/qwen/qwen3-coder
options: { seed: 7, provider: { data_collection: deny } }
---
Review the change you are given.`;

export function renderOptionsPage(): string {
  return renderPage("Options: a vendor's own fields", [
    "With `options` you send a model's vendor what Offshoot has no word for: `top_k`, `seed`, safety settings, a router's preferences, guardrails. They are written as the vendor's API spells them, and laid over the body of the request as they are. Maps are joined; everything else is replaced.",
    renderFence(
      "sh",
      `offshoot run -m vllm/qwen3 --options '{"top_k": 40, "chat_template_kwargs": {"enable_thinking": false}}' "Hello"`,
    ),
    "## Where they are written",
    renderTable(["where", "name", "holds for"], PLACES),
    "If several apply, those of a model come first, those of the settings or of `--options` (one setting: the flag replaces the file's) are laid over them, and those of a run, an agent or a request over both. A run's record has all of them: `settings.options` of its first event (`run_start`). A replay has those of the record.",
    renderFence("markdown", AGENT_FILE, "file ~/.config/offshoot/agents/reviewer.md"),
    "A subagent that keeps its parent's model has its parent's options, so a router's data policy holds for the whole tree; those of its agent file override them. A subagent with another model has only those of its file: one vendor's field is another vendor's error. Options of the settings apply to all of them.",
    "## What they cannot set",
    "Options cannot change what Offshoot itself writes. A setting, an agent file, a program or a request that tries gets an error that names the field, and nothing is sent. The spelling does not matter: `maxTokens` is `max_tokens`.",
    renderTable(
      ["fields", "why"],
      OWNED_FIELDS.map(({ names, why }) => [names.map(renderCode).join(", "), why]),
    ),
    "## In requests to the server",
    "`options` in a request is sent as it is. It needs a key that may set each of its fields: `offshoot keys create NAME --options GLOBS`. A field that the key may not set is refused with 403 and its name, and nothing is sent.",
    "Clients of compatible servers also send such fields without `options`, besides the published ones. The rule for these: a field is passed on if the table below says that the model's vendor takes it, in the place where the vendor wants it, and if the key may set it. Any other field is left out and named in the answer (`offshoot.ignored`). It never fails the request: a server of your own that refuses a passed-on field by its name is asked again without these fields.",
    renderTable(
      ["API, or vendor on chat completions", "fields that are passed on"],
      toCarriedRows(),
    ),
    "Vendors that are not here get none of them, and on `openai-responses` none are passed on; use `options`. A server that you have named yourself in the settings counts as `custom`.",
    "## What a key may set",
    renderTable(
      ["`offshoot keys create`", "what its requests may set"],
      [
        [
          "without `--options`, or `--options sampling`",
          SAMPLING_FIELDS.map(renderCode).join(", "),
        ],
        ["`--options provider,transforms`", "those, and the fields named; `*` fits any characters"],
        ["`--options all`, or `'*'`", "everything that options can set at all"],
        ["`--options none`", "nothing, not even the first row"],
      ],
    ),
    "`OFFSHOOT_SERVER_KEY`, the key that the first `offshoot serve` prints, and servers with `--no-auth` may set everything. A key with a list of models (`--models`) sets `models`, `route`, `fallbacks` and `preset` only if `--options` names them, because a router would take it to other models; a pattern is not enough. A request's value wins over the one in the settings, so give a key only the fields that its users may change.",
    "Some options cost money: `plugins` of OpenRouter search the web, a `prediction` that is wrong is charged. Some read what is yours: `cachedContent` names a prompt that was stored with your account. Keys that are limited in dollars pay for that if the vendor reports what an answer cost.",
    "## What an answer cost",
    `${tellers()} say with each answer what they charge for it. That is the cost of the call then, in place of a price by tokens: in \`runs cost\`, in budgets, and in what keys have used. It includes discounts and tools that the vendor ran.`,
    "So a limit in dollars (`--max-cost`, `usd_per_day`) holds for their models though no price is in the table. The price is known only afterwards, so such a call reserves all dollars that its run, its subagent or its response has left, and no other runs at the same time in the same one. The limit is exceeded by one call at most, for each run or response in flight; the next is refused. To bound a single call as well, give the model a `price` in `models`, or `options: {provider: {max_price: {prompt: 1, completion: 2}}}` on OpenRouter.",
    "The price of an interrupted call is not reported. It is booked with $30 for a million tokens, and at most with what it had reserved. An answer without its cost, from a vendor that reports costs, is booked with all that it had reserved.",
    `A cost that cannot be true is ignored, with a notice \`cost\`: one below 0, or above $${MOST_BESIDE_USD} plus what the answer's tokens would cost at ${DEARER} times the price of the most expensive model that Offshoot knows.`,
  ]);
}

/** One row for the APIs that accept the same fields. */
function toCarriedRows(): string[][] {
  const rows = new Map<string, string[]>();
  for (const [who, places] of CARRIED_FIELDS) {
    const names = Object.entries(places).map(([name, place]) =>
      name === place ? renderCode(name) : `${renderCode(name)} (as ${renderCode(place)})`,
    );
    const fields = names.join(", ");
    rows.set(fields, [...(rows.get(fields) ?? []), renderCode(who)]);
  }
  return [...rows].map(([fields, who]) => [who.join(", "), fields]);
}

function tellers(): string {
  const rows = VENDOR_NAMES.map((name) => [name, vendorOf(name)] as const);
  const names = rows.flatMap(([name, { quirks }]) => (quirks.tellsCost ? [renderCode(name)] : []));
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}
