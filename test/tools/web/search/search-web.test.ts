import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { describe, it } from "node:test";
import type { Clock } from "../../../../src/base/clock.ts";
import type { Json } from "../../../../src/base/json.ts";
import { createScope } from "../../../../src/tools/scope.ts";
import { type ToolContext, ToolOutput } from "../../../../src/tools/tool.ts";
import { SEARCH_PROVIDERS } from "../../../../src/tools/web/search/providers.ts";
import { createSearchWebTool } from "../../../../src/tools/web/search-web.ts";
import { itReadsPages } from "../page-libraries.ts";
import { asking, startWeb } from "../web-servers.ts";
import * as services from "./search-services.ts";

const { KEYS, createServices, html, json } = services;

/** The real rows, without TLS. */
const PLAIN = SEARCH_PROVIDERS.map((row) => ({ ...row, url: row.url?.replace("https:", "http:") }));

const ALL = createServices({
  "api.search.brave.com": services.brave,
  "api.tavily.com": services.tavily,
  "searx.lan:8888": services.searxng,
  "api.exa.ai": services.exa,
  "www.googleapis.com": services.google,
  "html.duckduckgo.com": services.duckduckgo,
});

interface Given {
  readonly query?: string;
  readonly count?: number;
  readonly answer?: RequestListener;
  readonly provider?: string;
  readonly url?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly names?: Readonly<Record<string, string[][]>>;
}

interface Searched {
  readonly output: Json | ToolOutput;
  readonly asked: readonly string[];
  readonly waits: readonly number[];
}

async function search(given: Given): Promise<Searched> {
  const { query = "otters", count = 3, answer = ALL, provider, url, env = KEYS } = given;
  const names = { "searx.lan": [["10.0.0.7"]], ...given.names };
  await using web = await startWeb({ answer, names });
  const { dial, resolve, userAgent } = web.parts;
  const waits: number[] = [];
  const clock: Clock = { now: () => 0, sleep: async (ms) => void waits.push(ms) };
  const tool = createSearchWebTool({
    provider,
    url,
    env,
    providers: PLAIN,
    clock,
    random: () => 1,
    web: { userAgent, resolve, privateHosts: [], respectRobots: true, ...(dial ? { dial } : {}) },
  });
  // The gate judges the hosts of the call; no other is asked about.
  const allowsHost = (): boolean => false;
  const context = { ...asking(), allowsHost, scope: createScope() } as unknown as ToolContext;
  try {
    const output = await tool.run(tool.parse({ query, count }), context);
    return { output, asked: web.asked, waits };
  } catch (thrown) {
    throw Object.assign(thrown as Error, { asked: web.asked, waits });
  }
}

describe("search_web", () => {
  const rows: readonly (readonly [string, object])[] = [
    [
      "brave",
      {
        title: "Otter & pond 1",
        url: "https://brave.example/1",
        description: "About otters no. 1",
      },
    ],
    [
      "tavily",
      { title: "Tavily 1", url: "https://tavily.example/1", description: "Long extract 1" },
    ],
    ["searxng", { title: "Searx 1", url: "https://searx.example/1", description: "Snippet 1" }],
    [
      "exa",
      {
        title: "https://exa.example/1",
        url: "https://exa.example/1",
        description: "First 1 … second",
      },
    ],
    ["google", { title: "Google 1", url: "https://google.example/1", description: "Snippet 1" }],
    [
      "duckduckgo",
      {
        title: "Otters & their ponds",
        url: "https://otters.example/a?b=1&c=2",
        description: "Otters hold hands.",
      },
    ],
  ];
  const url = "http://searx.lan:8888/searx/";

  for (const [provider, first] of rows) {
    // The one without an API is read from its page.
    const itAnswers = provider === "duckduckgo" ? itReadsPages : it;
    itAnswers(`asks ${provider} as it wants to be asked`, async () => {
      const { output, asked } = await search({ provider, url });
      assert.deepEqual((output as Json[])[0], first);
      assert.equal(asked.length, 1);
      // Addresses end up in logs.
      for (const name of ["BRAVE_SEARCH_API_KEY", "GOOGLE_CSE_KEY"] as const) {
        assert.ok(!asked.join().includes(KEYS[name]));
      }
    });

    itAnswers(`gives an empty list when ${provider} finds nothing`, async () => {
      assert.deepEqual((await search({ provider, url, query: "nothing" })).output, []);
    });

    itAnswers(`fails when ${provider} answers with something else`, async () => {
      for (const answer of [json({ hello: 1 }), json([]), html("<h1>Welcome</h1>")]) {
        const page = (): typeof answer => answer;
        const hosts = ["api.search.brave.com", "api.tavily.com", "searx.lan:8888", "api.exa.ai"];
        const others = ["www.googleapis.com", "html.duckduckgo.com"];
        const pages = Object.fromEntries([...hosts, ...others].map((host) => [host, page]));
        await assert.rejects(search({ provider, url, answer: createServices(pages) }), {
          code: "tool_failed",
          message: /did not answer with a list of results/,
        });
      }
    });
  }

  it("returns as many results as requested, from as many pages as needed", async () => {
    const google = await search({ provider: "google", count: 15 });
    assert.equal((google.output as Json[]).length, 15);
    assert.equal(google.asked.length, 2);
    assert.equal(
      ((await search({ provider: "searxng", url, count: 4 })).output as Json[]).length,
      4,
    );
  });

  itReadsPages("leaves out what comes twice and what cannot be fetched", async () => {
    const { output } = await search({ provider: "duckduckgo", count: 20, env: {} });
    const urls = (output as { url: string }[]).map((result) => result.url);
    assert.deepEqual(urls, ["https://otters.example/a?b=1&c=2", "https://direct.example/"]);
  });

  it("names the hosts that it will ask", () => {
    const web = { userAgent: "test", privateHosts: [], respectRobots: true };
    const hosts = (provider: string, env = {}) =>
      createSearchWebTool({ provider, url: undefined, env, web }).targets?.({});
    assert.deepEqual(hosts("exa", KEYS), { hosts: ["api.exa.ai"] });
    assert.deepEqual(hosts("duckduckgo", KEYS), {
      hosts: ["html.duckduckgo.com", "api.search.brave.com"],
    });
    assert.deepEqual(hosts("exa"), { hosts: [] });
  });
});

describe("search_web when a service refuses", () => {
  it("names the key that is not accepted, and never shows it", async () => {
    const env = { TAVILY_API_KEY: "tvly-wrong-key-99" };
    await assert.rejects(search({ provider: "tavily", env }), (thrown: Error) => {
      assert.match(thrown.message, /HTTP 401\. It does not accept the key: check `TAVILY_API_KEY`/);
      assert.doesNotMatch(JSON.stringify([thrown, thrown.message, thrown.stack]), /wrong-key/);
      return true;
    });
  });

  it("says how to make a SearXNG server answer", async () => {
    await assert.rejects(search({ provider: "searxng", url: "http://searx.lan:8888/other" }), {
      message: /Add `json` to `search\.formats`/,
    });
  });

  it("reaches no private address except the configured one", async () => {
    const names = { "api.exa.ai": [["10.0.0.7"]] };
    await assert.rejects(search({ provider: "exa", names }), { code: "forbidden" });
  });

  for (const [status, attempts] of [
    [429, 3],
    [500, 3],
    [503, 3],
    [400, 1],
    [404, 1],
  ] as const) {
    it(`tries ${attempts === 1 ? "once" : "three times"} for HTTP ${status}`, async () => {
      const answer = createServices({ "api.exa.ai": () => json({ error: "no" }, status) });
      await assert.rejects(search({ provider: "exa", answer }), (thrown: Error & Searched) => {
        assert.equal((thrown as unknown as { code: string }).code, "tool_failed");
        assert.match(thrown.message, new RegExp(`Exa answered with HTTP ${status}\\.`));
        assert.equal(thrown.asked.length, attempts);
        assert.deepEqual(thrown.waits, attempts === 1 ? [] : [1000, 2000]);
        return true;
      });
    });
  }

  it("succeeds if a later attempt does", async () => {
    const statuses = [503, 429];
    const answer = createServices({
      "api.exa.ai": (asked) => {
        const status = statuses.shift();
        return status === undefined ? services.exa(asked) : json({}, status);
      },
    });
    const { output, asked } = await search({ provider: "exa", answer });
    assert.equal((output as Json[]).length, 3);
    assert.equal(asked.length, 3);
  });
});

describe("search_web at DuckDuckGo's robot check", () => {
  const walls: readonly (readonly [string, () => ReturnType<typeof html>])[] = [
    ["HTTP 202", () => html("<html></html>", 202)],
    ["a challenge", () => html(services.WALL_PAGE)],
  ];
  for (const [name, page] of walls) {
    it(`says what to set if it gets ${name}`, async () => {
      const answer = createServices({ "html.duckduckgo.com": page });
      await assert.rejects(search({ answer, env: {} }), {
        code: "tool_failed",
        message: /takes this computer for a robot[\s\S]*`BRAVE_SEARCH_API_KEY`[\s\S]*`search_url`/,
      });
    });
  }

  it("asks another configured service, and says so", async () => {
    const answer = createServices({
      "html.duckduckgo.com": () => html(services.WALL_PAGE, 202),
      "api.exa.ai": services.exa,
    });
    const env = { EXA_API_KEY: KEYS.EXA_API_KEY };
    const { output } = await search({ provider: "duckduckgo", answer, env });
    assert.ok(output instanceof ToolOutput);
    assert.equal((output.value as Json[]).length, 3);
    assert.match(JSON.stringify(output.parts), /robot[\s\S]*These results are from Exa\./);
  });

  it("fails if the other one fails too", async () => {
    const answer = createServices({
      "html.duckduckgo.com": () => html("", 202),
      "api.exa.ai": () => json({ error: "no credits" }, 402),
    });
    const env = { EXA_API_KEY: KEYS.EXA_API_KEY };
    await assert.rejects(search({ provider: "duckduckgo", answer, env }), {
      message: "Exa answered with HTTP 402. Its credits are used up.",
    });
  });
});
