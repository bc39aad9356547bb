/** The pages about vendors and models, the embedded model, and the kit for tests. */

import { PULL_TABLE } from "../../src/providers/download/pull-table.ts";
import { INTENTS } from "../../src/providers/embedded/intents/table.ts";
import type { Model } from "../../src/providers/models/facts.ts";
import { MODELS } from "../../src/providers/models/model-table.ts";
import { PROVIDERS } from "../../src/providers/models/provider-names.ts";
import { VENDOR_NAMES, vendorOf } from "../../src/providers/vendors/catalog.ts";
import { featuresOf } from "../../src/providers/vendors/features.ts";
import { nativeRowOf } from "../../src/providers/vendors/native-tools.ts";
import type { Quirks } from "../../src/providers/wire.ts";
import { loadWire } from "../../src/providers/wires.ts";
import { VENDOR_FIELDS } from "../../src/runtime/config/config-vendors.ts";
import { FAULTS } from "../../src/testing/faults/fault-table.ts";
import { renderCode, renderFence, renderPage, renderTable, renderTranscript } from "./page.ts";

export async function renderProvidersPage(): Promise<string> {
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
    "After this page you can use a model of any vendor, a server of your own, or a model file, and you know what each model costs and can do.",
    renderFence(
      "console",
      '$ export OPENAI_API_KEY=…\n$ offshoot run -m openai/gpt-5.1 "Say hello"\n$ offshoot run --url http://127.0.0.1:8000/v1 -m custom/my-model "Say hello"',
    ),
    "A model is written `vendor/model`. Which one is used, in this order: the one you chose, the vendor whose key is set in the environment (the rows below in their order), then one whose key is stored ([auth.md](auth.md)), a server on this machine that answers (Ollama, llama.cpp, LM Studio, vLLM), the [embedded one](embedded.md). A [vendor of your own](#vendors-of-your-own) is never chosen by itself: name it with `-m`, or make it the default (`offshoot config set model gpu1/MODEL`). `offshoot run` says which and why.",
    "## Vendors",
    renderTable(["vendor", "", "key", "base URL", "APIs"], vendors),
    "The first API is the default; another is chosen with `--provider`:",
    renderTable(["provider", ""], providers),
    "A name in braces in a base URL is a variable: `{AWS_REGION}` is the value of `AWS_REGION`.",
    ...renderOwnVendors(),
    ...renderAzure(),
    "## Not supported",
    renderTable(["service", "why, and what to do"], NOT_SUPPORTED),
    ...(await renderFeatures()),
    "## Models",
    "A model that is not here works too: nothing is refused and its price is unknown. Prices are USD per million tokens of input, cached input and output. `*` means the rest of a name. Change or add rows with `models` in [config.md](config.md).",
    renderTable(
      ["model", "context", "answer", "price", "not able to", "not sent"],
      MODELS.map(toModelRow),
    ),
    "## Models to pull",
    "`offshoot models pull NAME` gets one of these, or any GGUF file by its URL, and checks its checksum.",
    renderTable(["name", "size", ""], pulls),
    "## GGUF files",
    "A model file runs inside the process, without a server and without a network, with the optional package `node-llama-cpp` (`npm install node-llama-cpp` beside Offshoot). Name the file as the model:",
    renderFence(
      "console",
      '$ offshoot run -m gguf:./my-model.gguf "Say hello"\n$ offshoot run -m "gguf:$(offshoot models pull qwen3-0.6b)" "Say hello"',
      "not run: it needs the optional package node-llama-cpp and a model file",
    ),
    "What follows `gguf:` is a path. `offshoot models pull` prints that of the file it got, and does not get it twice. The file is loaded by the first call and stays in memory while the command runs; calls take turns. It costs nothing.",
  ]);
}

const OWN_VENDORS = `# ~/.config/offshoot/config.yaml
vendors:
  gpu1:
    like: vllm
    url: http://gpu-1:8000/v1
    api_key_name: GPU1_KEY
    models:
      qwen3-8b: { context_tokens: 32768, price: { input: 0.1, output: 0.4 } }
  gpu2:
    like: vllm
    url: http://gpu-2:8000/v1
    api_key_name: GPU2_KEY
    headers: { x-team: research, x-team-key: $TEAM_KEY }
    options: { top_k: 20 }
  desk:
    like: lmstudio
    url: http://192.168.1.20:1234/v1
model: gpu1/qwen3-8b
server:
  models:
    fast: gpu1/qwen3-8b
    large: gpu2/llama-4-scout`;

function renderOwnVendors(): string[] {
  const fields = Object.entries(VENDOR_FIELDS).map(([name, { summary }]) => [
    `\`${name}\``,
    `${summary}.`,
  ]);
  return [
    "## Vendors of your own",
    "Name your own servers in the settings, and use each one like the vendors above. This file has two vLLM servers and LM Studio on another machine:",
    renderFence("yaml", OWN_VENDORS),
    renderFence(
      "console",
      `$ export GPU1_KEY=… GPU2_KEY=… TEAM_KEY=…
$ offshoot run "Say hello"                             # gpu1/qwen3-8b
$ offshoot run -m gpu2/llama-4-scout "Say hello"
$ offshoot run -m desk/gemma-3-12b "Say hello"
$ offshoot models                                      # lists the models of all three
$ offshoot serve                                       # fast, large, gpu1/…, gpu2/…, desk/…`,
      "tested by test/runtime/own-vendors.test.ts",
    ),
    "These names work with `-m`, in agent files, in `server.models` and for clients of the server, whose `GET /v1/models` lists them. `offshoot doctor` says which variables are missing. A key is sent to the address it is named with, and to no other.",
    renderTable(["field", "meaning"], fields),
    "A vendor's name has letters, digits, `-`, `_` and `.`. The name of a built-in vendor is refused: choose another one and say `like`. Two regions of one cloud are two vendors: `eu: { like: bedrock, url: https://bedrock-runtime.eu-central-1.amazonaws.com }`. In a project's file, `vendors` is ignored until you trust the file ([config.md](config.md#trust)): an address and a key's variable decide where the key goes. Each file adds its vendors to those of the files before it. If two files have the same vendor, the later one replaces it completely.",
    "Prices are unknown unless `models` has them. A limit in dollars needs a price.",
  ];
}

function renderAzure(): string[] {
  return [
    "## Azure",
    renderFence(
      "console",
      `$ export AZURE_OPENAI_ENDPOINT=https://me.openai.azure.com
$ az login                                             # or AZURE_OPENAI_API_KEY=…
$ offshoot run -m azure/my-deployment "Say hello"`,
    ),
    "Without `AZURE_OPENAI_API_KEY`, requests are signed with a token of Microsoft Entra ID. Offshoot uses the first row whose variables are set. If that identity fails, no other is tried. If no variables are set, it asks the virtual machine, then `az`.",
    renderTable(
      ["identity", "variables"],
      [
        ["client secret", "`AZURE_TENANT_ID`, `AZURE_CLIENT_ID`, `AZURE_CLIENT_SECRET`"],
        [
          "workload identity (Kubernetes)",
          "`AZURE_TENANT_ID`, `AZURE_CLIENT_ID`, `AZURE_FEDERATED_TOKEN_FILE`",
        ],
        [
          "managed identity of App Service, Functions or Container Apps",
          "`IDENTITY_ENDPOINT`, `IDENTITY_HEADER`; `AZURE_CLIENT_ID` chooses one of several",
        ],
        [
          "managed identity of a virtual machine",
          "none: `169.254.169.254` is asked; `AZURE_CLIENT_ID` chooses one of several",
        ],
        ["login of a person", "none: `az account get-access-token` is asked"],
      ],
    ),
    "`AZURE_TOKEN_CREDENTIALS` (`prod`, `dev`, or the name of a credential such as `ManagedIdentityCredential`) leaves the others out. `AZURE_AUTHORITY_HOST` names another authority, `AZURE_SCOPE` another audience, which a gateway may want. A token is kept until five minutes before it expires and is shared by all runs of a process. Client certificates and Azure Arc are not supported.",
    "A deployment from before the v1 API is asked by its dated `api-version`. The address names the deployment, or the model does:",
    renderFence(
      "console",
      `$ offshoot run -m azure/old --url "https://me.openai.azure.com/openai/deployments/old?api-version=2024-10-21" "Say hello"
$ export AZURE_OPENAI_ENDPOINT="https://me.openai.azure.com?api-version=2024-10-21"
$ offshoot run -m azure/old "Say hello"                # …/openai/deployments/old/chat/completions`,
    ),
  ];
}

const NOT_SUPPORTED = [
  [
    "Claude Platform on AWS with IAM",
    "`claudeaws` sends an API key and a workspace. Requests that are signed with credentials of AWS are not supported there; `bedrock` signs them.",
  ],
  [
    "Amazon SageMaker",
    "Requests are signed as for AWS, but each container has its own form of bodies. Use Bedrock, or put a compatible server in front.",
  ],
  [
    "GitHub Copilot",
    "Its tokens are for editors: they are exchanged every half hour, and requests must name an editor. Use `github` (GitHub Models).",
  ],
  [
    "IBM watsonx.ai",
    "A key is exchanged for a token of one hour, and requests name a project. With a token in a variable, its model gateway works as a vendor of your own.",
  ],
  [
    "Cloudflare AI Gateway",
    "Its address has a gateway's name. It works as a vendor of your own: `url: https://gateway.ai.cloudflare.com/v1/ACCOUNT/GATEWAY/compat`.",
  ],
] as const;

async function renderFeatures(): Promise<readonly string[]> {
  const rows: string[][] = [];
  for (const vendor of VENDOR_NAMES) {
    const wire = await loadWire(vendorOf(vendor).wire);
    for (const { name, how } of featuresOf(vendor, wire)) rows.push([`\`${vendor}\``, name, how]);
  }
  const prices = VENDOR_NAMES.flatMap((vendor) =>
    (nativeRowOf(vendor)?.prices ?? []).map(({ tool, models, usdPerThousand }) => [
      `\`${vendor}\``,
      `\`${tool}\`${models ? " (Gemini 2 and before, for each prompt)" : ""}`,
      String(usdPerThousand),
    ]),
  );
  return [
    "## What each vendor has natively",
    NATIVE_WORDS,
    renderTable(["vendor", "feature", "how to reach it"], rows),
    NATIVE_PRICES,
    renderTable(["vendor", "tool", "USD for 1,000 calls"], prices),
    "## Thoughts between calls",
    THOUGHTS,
    renderTable(["where they go back", "vendors"], renderThoughts()),
  ];
}

const THOUGHTS =
  "A model that thinks needs its thoughts back with the results of its calls, or it starts to think again after each one. The APIs of Anthropic, Gemini, Bedrock, Cohere, Ollama and OpenAI (Responses) get them back as they came. Servers of chat completions differ:";

/** The vendors of chat completions, by where each expects thoughts. */
function renderThoughts(): string[][] {
  const vendors = VENDOR_NAMES.map((name) => [name, vendorOf(name)] as const)
    .filter(([, { wire }]) => wire === "openai-chat" || wire === "llamacpp")
    .map(([name, { quirks }]) => [placeOfThoughts(quirks), `\`${name}\``] as const);
  const places = [...new Set(vendors.map(([place]) => place))].sort();
  return places.map((place) => [
    place,
    vendors.flatMap(([other, name]) => (other === place ? [name] : [])).join(", "),
  ]);
}

function placeOfThoughts({ mistralParts, reasoningDetails, reasoningField }: Quirks): string {
  if (mistralParts) return "parts of the type `thinking`";
  if (reasoningDetails) return "the field `reasoning_details`, as it came";
  return reasoningField
    ? `the field \`${reasoningField}\``
    : "nowhere: the vendor documents no field for them";
}

const NATIVE_WORDS = `The words in the last column are fields of a request to the server (\`tools\`, \`reasoning\`, \`service_tier\`), or the vendor's own fields, which are added to each request: \`options\` in the [settings](config.md) or \`--options\`. A type of a native tool that ends in \`*\` means all that begin so, with their dates.

A native tool is run by the vendor. A request of the server names one by its type: \`{"type": "web_search_20250305", "max_uses": 3}\`. The standard \`web_search\` and \`code_interpreter\` go to the vendor if the table has them; [server.md](server.md#who-runs-a-tool) says when the server runs them instead. A run of the command line, or an agent file, names one as \`native:TYPE\` among its tools:

\`\`\`console
$ offshoot run -m anthropic/claude-sonnet-5-5 --tools native:web_search "What is new in Node.js?"
\`\`\`

Calls of native tools pass no [gate](safety.md): the vendor makes them.`;

const NATIVE_PRICES =
  "What calls of native tools cost besides tokens, if it is published. A call whose price is not here makes the cost of its answer unknown. With a limit in dollars such a tool is refused; for the standard kinds the server runs its own instead. What a vendor gives for free each day is not subtracted.";

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

/** Nothing is stored, and standard error is left out. */
const ANSWER_ALONE = { OFFSHOOT_STORE: "false", OFFSHOOT_QUIET: "true" };

export async function renderEmbeddedPage(): Promise<string> {
  const intents = INTENTS.flatMap(({ name, summary, tools, phrasings }) => [
    `### ${name}`,
    `To ${summary}${tools.length === 0 ? "" : ` (with ${tools.map((tool) => `\`${tool}\``).join(", ")})`}:`,
    phrasings.map((phrasing) => `- ${renderCode(phrasing)}`).join("\n"),
  ]);
  return renderPage("The embedded model", [
    "After this page you know which requests work without a key and without a network.",
    await renderTranscript(["run", "-m", "embedded", "compute 2**64 % 97"], ANSWER_ALONE),
    "`embedded/offline` needs no key and no network. It is not a language model: it reads plain requests of the kinds below, calls the real tools through the real loop, and makes its answer from their results. The same request gets the same answer. It calls a tool it is told to call, and knows facts told earlier in the conversation. It reads the first 256 KB of a message or of an attached file, and refuses a conversation with more than 2 MB of tool calls and results (`context_exceeded`). The tokens of a longer input are estimated by its length. Everything else it refuses: the run ends `refused` with exit code 5, standard output stays empty, and three lines on standard error say what it is, the two nearest requests it understands, and how to get a real model.",
    "A request that could not be carried out is refused as well: the call was denied, the file is not there, the server answered 404. Standard error says why. A command that ended with an exit code was carried out, so the answer reports it: `run the tests` says whether the tests pass or failed, and with which exit code. If only some steps could be done, the answer says which.",
    "If no key is set and no local server answers, `offshoot run` falls back to this model. One line on standard error says so, also with `-q`.",
    "## JSON and schemas",
    "The embedded model decides nothing. With `--schema` or `--json-object` it passes on what is stated, or it refuses:",
    renderTable(
      ["who chose the model", "what is asked", "what happens"],
      [
        [
          "no one (no key, no server)",
          "anything",
          "refused, before any tool call. A script that lost its key never gets an answer",
        ],
        [
          "you (`-m embedded`, a setting, a request that names it)",
          "a request of the kinds below",
          "the schema is filled with the answer's own facts (`compute 6*7`: `result`), and with the text of the file or page it was asked to read",
        ],
        [
          "you",
          "an extraction: `extract the city: …`, `parse …`, `convert … to JSON`, `read … as a table`, `fill the form`, `return … as JSON`",
          "filled with what comes after the colon, in files and on standard input",
        ],
        [
          "you",
          "nothing but data: a JSON document, a table, lines `name: value`",
          "filled with the data",
        ],
        ["you", "anything else: a question, a judgement, in any language", "refused"],
      ],
    ),
    "Booleans, options and constants are taken from data alone: a JSON document, a table or pairs `name: value` that stand by themselves. JSON inside a diff or a log is not data, and neither is a sentence. A name that has two values in the input has none. If a required field is not stated, the whole schema is refused.",
    `## What it understands: ${INTENTS.length} kinds of request`,
    ...intents,
  ]);
}

/** By the names that `reply` has: a test compares them. */
const REPLIES: readonly (readonly [string, string])[] = [
  ['`reply.text("Hello")`', "Says it."],
  [
    "`reply.calls([{ name, arguments }])`",
    "Calls tools. `arguments` is an object, or text that is sent as it is, even if it is not JSON. `call_id` is generated unless given; the option `text` says something before.",
  ],
  ['`reply.reasoning("Hm.", then)`', "Thinks, then continues as the reply `then` does."],
  ['`reply.refusal("No.")`', "Refuses."],
  ['`reply.length("Cut he")`', "Says it, and is cut off by the token limit."],
  [
    '`reply.searched({ query, pages }, "It rains.")`',
    "Searches with the vendor's own tool, and cites `pages` (`{ url, title }`).",
  ],
  ['`reply.picture(png, "A cat.")`', "Draws a picture: `png` is base64."],
  ['`reply.failure("broke", { text })`', "Says `text`, then stops with an error."],
  ['`reply.silence("Well")`', "Says it, then nothing more until it is cancelled."],
  ["`reply.status(429, body, headers)`", "An HTTP answer in place of the model's."],
  [
    "`reply.raw(lines)`",
    "An event stream word for word: the whole body, or a list with one `data:` payload for each entry.",
  ],
];

const REQUEST_FIELDS: readonly (readonly [string, string])[] = [
  ["`model`", "The vendor's own name of the model."],
  ["`instructions`", "The system prompt, or undefined."],
  [
    "`items`",
    "The whole conversation, oldest first, as items of the Responses API: `message`, `function_call`, `function_call_output`, `reasoning`, …",
  ],
  ["`tools`, `tool_choice`", "What it may call, and whether it must."],
  ["`format`", '`{ type: "text" }`, or the JSON that is asked for.'],
  ["`temperature`, `top_p`, `max_output_tokens`", "As they were sent; undefined if they were not."],
  ["`reasoning`", "`effort` and `summary`."],
];

export function renderTestingPage(): string {
  return renderPage("Testing against a model's server", [
    "After this page you can test a program that asks a model: against a server on the loopback that answers what your test says, and that fails in the ways that real servers fail.",
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
    "`startChatUpstream` is a server on the loopback that refuses what the real one refuses. It is as strict as OpenAI: give Offshoot's `custom` vendor its address, because `vllm` and others send fields that OpenAI does not know. There is one for each API: `startResponsesUpstream`, `startMessagesUpstream` (Anthropic), `startGeminiUpstream`, `startBedrockUpstream`, `startCohereUpstream`, `startOllamaUpstream` and `startLlamacppUpstream`. Without an `engine` the [embedded model](embedded.md) answers. `faults` makes the answer go wrong: a fault, a list of them, or a function of the request's number.",
    "## What it answers",
    "`script(a, b, …)` gives fixed replies, one for each request, in order. `respond(choose)` chooses by what a request says, for runs that ask at the same time. `choose` must return its reply at once: an async function is refused with a 400 that says so.",
    renderFence(
      "ts",
      `import { reply, respond, startChatUpstream } from "offshoot/testing";

const upstream = await startChatUpstream({
  engine: respond(({ items, tools }) => {
    if (items.some(({ type }) => type === "function_call_output")) return reply.text("It rains.");
    if (tools.length === 0) return reply.refusal("I have no tools.");
    return reply.calls([{ name: "weather", arguments: { city: "Oslo" } }]);
  }),
});
await upstream.close();`,
    ),
    renderTable(["reply", "what the model does"], REPLIES),
    "A reply takes options at its end: `usage` (`{ input, cached, output, reasoning }`, tokens to report) and `pieceLength` (characters of each delta).",
    "What `choose` is given is one request of any API in the same form:",
    renderTable(["field", "meaning"], REQUEST_FIELDS),
    "`upstream.requests` has the requests as they came over HTTP: `method`, `path`, `headers` and the parsed `body`. `await upstream.waitForRequest(2)` waits for the second one.",
    "## Faults",
    "`FAULTS` holds one of each, with what a client must make of it: the same answer as without the fault, or an error, and never a short answer as if it were whole.",
    renderTable(
      ["fault", "what happens", "expected"],
      FAULTS.map(({ name, summary, expect }) => [name, summary, expect]),
    ),
  ]);
}
