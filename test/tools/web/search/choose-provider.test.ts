import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chooseProviders } from "../../../../src/tools/web/search/choose-provider.ts";
import { SEARCH_PROVIDERS } from "../../../../src/tools/web/search/providers.ts";
import { KEYS } from "./search-services.ts";

interface Given {
  readonly provider?: string;
  readonly url?: string;
  readonly env?: Readonly<Record<string, string>>;
}

function choose({ provider, url, env = {} }: Given): string[] {
  const chosen = chooseProviders({ provider, url, env }, SEARCH_PROVIDERS);
  return chosen.map((one) => one.provider.name);
}

const { TAVILY_API_KEY, EXA_API_KEY, GOOGLE_CSE_KEY, GOOGLE_CSE_ID } = KEYS;

describe("chooseProviders", () => {
  const rows: readonly (readonly [string, Given, string[]])[] = [
    ["the one without a key when nothing is set", {}, ["duckduckgo"]],
    ["the first whose key is set", { env: { EXA_API_KEY, TAVILY_API_KEY } }, ["tavily"]],
    ["Brave by its other variable", { env: { BRAVE_SEARCH_AI_API_KEY: "k" } }, ["brave"]],
    ["no service by an empty key", { env: { EXA_API_KEY: "" } }, ["duckduckgo"]],
    ["Google with both its variables", { env: { GOOGLE_CSE_KEY, GOOGLE_CSE_ID } }, ["google"]],
    ["not Google with one of them", { env: { GOOGLE_CSE_KEY } }, ["duckduckgo"]],
    ["SearXNG where its address is set", { url: "http://searx.lan" }, ["searxng"]],
    ["the one that is named", { provider: "exa", env: { EXA_API_KEY, TAVILY_API_KEY } }, ["exa"]],
    [
      "one with a key to stand by for one that may refuse",
      { provider: "duckduckgo", env: { EXA_API_KEY } },
      ["duckduckgo", "exa"],
    ],
  ];
  for (const [name, given, expected] of rows) {
    it(`chooses ${name}`, () => assert.deepEqual(choose(given), expected));
  }

  it("names what the selected one needs", () => {
    assert.throws(() => choose({ provider: "google", env: { GOOGLE_CSE_KEY } }), {
      code: "key_missing",
      message: /`GOOGLE_CSE_KEY` and `GOOGLE_CSE_ID`/,
    });
    assert.throws(() => choose({ provider: "searxng" }), { message: /`search_url`/ });
  });

  it("lists the existing providers", () => {
    assert.throws(() => choose({ provider: "yahoo" }), {
      code: "invalid_request",
      message: /`brave`, `tavily`, `searxng`, `exa`, `google`, `duckduckgo`/,
    });
  });

  it("reports an invalid address", () => {
    assert.throws(() => choose({ url: "searx" }), {
      code: "invalid_request",
      message: /search_url/,
    });
  });
});
