/** The pages about vendors and models, the embedded model, and the kit for tests. */

import { PULL_TABLE } from "../../src/providers/download/pull-table.ts";
import { INTENTS } from "../../src/providers/embedded/intents/table.ts";
import { MODELS } from "../../src/providers/models/model-table.ts";
import type { Model } from "../../src/providers/models/models.ts";
import { VENDOR_NAMES, vendorOf } from "../../src/providers/vendors/catalog.ts";
import { PROVIDERS } from "../../src/providers/vendors/provider-names.ts";
import { FAULTS } from "../../src/testing/faults/fault-table.ts";
import { renderCode, renderFence, renderPage, renderTable, renderTranscript } from "./page.ts";

export function renderProvidersPage(): string {
  const vendors = VENDOR_NAMES.map((name) => {
    const { summary, keyVariable, baseUrl, baseUrlVariable, wire, alternatives } = vendorOf(name);
    const wires = [wire, ...(alternatives ?? [])];
    return [
      `\`${name}\``,
      summary,
      keyVariable === undefined ? "" : `\`${keyVariable}\``,
      [baseUrl, baseUrlVariable && `\`${baseUrlVariable}\``].filter(Boolean).join(" or "),
      wires.join(", "),
    ];
  });
  const providers = Object.entries(PROVIDERS).map(([name, { summary }]) => [
    `\`${name}\``,
    summary,
  ]);
  const pulls = Object.entries(PULL_TABLE).map(([name, { summary, bytes }]) => [
    `\`${name}\``,
    `${Math.round(bytes / 1e6)} MB`,
    summary,
  ]);
  return renderPage("Vendors and models", [
    renderFence(
      "console",
      '$ export OPENAI_API_KEY=…\n$ offshoot run -m openai/gpt-5.1 "Say hello"\n$ offshoot run --url http://127.0.0.1:8000/v1 -m custom/my-model "Say hello"',
    ),
    "A model is written `vendor/model`. Which one is used, in this order: the one you chose, the vendor whose key is set (the rows below in their order), a server on this machine that answers (Ollama, llama.cpp, LM Studio), the [embedded one](embedded.md). `offshoot run` says which and why.",
    "## Vendors",
    renderTable(["vendor", "", "key", "base URL", "APIs"], vendors),
    "The first API is the default; another is chosen with `--provider`:",
    renderTable(["provider", ""], providers),
    "## Models",
    "A model that is not here works too: nothing is refused and its price is unknown. Prices are USD per million tokens of input, cached input and output. `*` stands for the rest of a name. Change or add rows with `models` in [config.md](config.md).",
    renderTable(
      ["model", "context", "answer", "price", "not able to", "not sent"],
      MODELS.map(toModelRow),
    ),
    "## Models to pull",
    "`offshoot models pull NAME` gets one of these, or any GGUF file by its URL, and checks its checksum.",
    renderTable(["name", "size", ""], pulls),
  ]);
}

const ABILITIES = {
  reasoning: "reason",
  vision: "see",
  pdf: "read PDF",
  tools: "call tools",
  structured: "keep to a schema",
} as const;

function toModelRow(model: Model): string[] {
  const { vendor, name, contextTokens, maxOutputTokens, price, refuses } = model;
  const abilities = Object.entries(ABILITIES) as [keyof typeof ABILITIES, string][];
  return [
    `\`${vendor}/${name}\``,
    contextTokens?.toLocaleString("en") ?? "",
    maxOutputTokens?.toLocaleString("en") ?? "",
    price ? [price.input, price.cached ?? "–", price.output].join(" / ") : "",
    abilities.flatMap(([ability, verb]) => (model[ability] ? [] : [verb])).join(", "),
    refuses.join(", "),
  ];
}

/** Nothing is kept, and standard error is left out. */
const ANSWER_ALONE = { OFFSHOOT_STORE: "false", OFFSHOOT_QUIET: "true" };

export async function renderEmbeddedPage(): Promise<string> {
  const intents = INTENTS.flatMap(({ name, summary, tools, phrasings }) => [
    `### ${name}`,
    `To ${summary}${tools.length === 0 ? "" : ` (with ${tools.map((tool) => `\`${tool}\``).join(", ")})`}:`,
    phrasings.map((phrasing) => `- ${renderCode(phrasing)}`).join("\n"),
  ]);
  return renderPage("The embedded model", [
    await renderTranscript(["run", "-m", "embedded", "compute 2**64 % 97"], ANSWER_ALONE),
    "`embedded/offline` needs no key and no network. It is no language model: it reads plain requests of the kinds below, calls the real tools through the real loop, and makes its answer of what they give. The same request gets the same answer. It fills JSON schemas from the words of the request and the results of tools, calls a tool it is told to call, and keeps facts told earlier in the conversation. To anything else it says what it can do and how to get a real model.",
    `## What it understands: ${INTENTS.length} kinds of request`,
    ...intents,
  ]);
}

export function renderTestingPage(): string {
  return renderPage("Testing against a model's server", [
    renderFence(
      "ts",
      `import { cutAfter, reply, script, startChatUpstream } from "offshoot/testing";

const upstream = await startChatUpstream({
  engine: script(reply.text("Hello.")),
  faults: cutAfter(200),
});
// Point your client at upstream.url; what it sent is in upstream.requests.
await upstream.close();`,
    ),
    "`startChatUpstream` and `startResponsesUpstream` are servers on the loopback that refuse what the real ones refuse. Without an `engine` the [embedded model](embedded.md) answers. `faults` makes the answer go wrong: a fault, a list of them, or a function of the request's number.",
    "## Faults",
    "`FAULTS` holds one of each, with what a client must make of it: the same answer as without the fault, or an error, and never a short answer as if it were whole.",
    renderTable(
      ["fault", "what happens", "expected"],
      FAULTS.map(({ name, summary, expect }) => [name, summary, expect]),
    ),
  ]);
}
