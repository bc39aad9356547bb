import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { describe, it } from "node:test";
import { createScope } from "../../../src/tools/scope.ts";
import type { Tool, ToolContext } from "../../../src/tools/tool.ts";
import { createFetchTool } from "../../../src/tools/web/fetch.ts";
import type { WebSettings } from "../../../src/tools/web/network/open-web.ts";
import { createScrapeWebpageTool } from "../../../src/tools/web/scrape-webpage.ts";
import { itReadsPages } from "./page-libraries.ts";
import { asking, startWeb } from "./web-servers.ts";

const PAGE = `<!doctype html><title>Otters</title><nav><a href="/">Home</a></nav>
<article><h1>Otters</h1><p>${"Otters hold hands while they sleep. ".repeat(12)}</p>
<p>See <a href="/more">more</a>.</p></article>`;

/** One page, without the table of offsets, which readers do not need. */
const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 46>>stream
BT /F 12 Tf 10 50 Td (Otters on paper.) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF
`;

interface Call {
  readonly make: (settings: WebSettings) => Tool;
  readonly answer: RequestListener;
  readonly arguments?: Readonly<Record<string, string | number | boolean>>;
  readonly allowsHost?: (host: string) => boolean;
}

async function call({ make, answer, arguments: given = {}, allowsHost = () => true }: Call) {
  await using web = await startWeb({ answer });
  const { dial, ...parts } = web.parts;
  const tool = make({ ...parts, ...(dial ? { dial } : {}) });
  const context = { ...asking(), allowsHost, scope: createScope() } as unknown as ToolContext;
  return await tool.run(tool.parse({ url: "http://example.com/page", ...given }), context);
}

const serve =
  (type: string, body: string | Buffer, status = 200): RequestListener =>
  (_, response) =>
    response.writeHead(status, type === "" ? {} : { "content-type": type }).end(body);

describe("fetch", () => {
  const make = createFetchTool;

  itReadsPages(
    "gives a page's main content as Markdown, with what the server said of it",
    async () => {
      const answer = serve("text/html; charset=utf-8", PAGE);
      const { content, ...rest } = (await call({ make, answer })) as { content: string };
      assert.deepEqual(rest, {
        url: "http://example.com/page",
        status: 200,
        content_type: "text/html; charset=utf-8",
        title: "Otters",
        truncated: false,
      });
      assert.match(content, /Otters hold hands/);
      assert.match(content, /\[more\]\(http:\/\/example\.com\/more\)/);
      assert.doesNotMatch(content, /Home/);
    },
  );

  it("returns the markup itself if requested", async () => {
    const answer = serve("text/html", PAGE);
    const output = await call({ make, answer, arguments: { raw: true } });
    assert.equal((output as { content: string }).content, PAGE);
  });

  it("cuts at the requested length, not inside a character, and says so", async () => {
    const answer = serve("text/plain", "abc🦦def");
    const output = await call({ make, answer, arguments: { max_chars: 4 } });
    const { content, truncated } = output as { content: string; truncated: boolean };
    assert.deepEqual([content, truncated], ["abc", true]);
  });

  it("returns a server's text with an error status", async () => {
    const output = await call({ make, answer: serve("application/json", '{"error":"gone"}', 410) });
    const { status, content } = output as { status: number; content: string };
    assert.deepEqual([status, content], [410, '{"error":"gone"}']);
  });

  for (const [type, body] of [
    ["application/json", "[1]"],
    ["application/ld+json; charset=utf-8", "{}"],
    ["application/xml", "<a/>"],
    ["text/csv", "a,b"],
    ["application/yaml", "a: 1"],
    ["", "no type"],
    ["application/octet-stream", "text nevertheless"],
  ] as const) {
    it(`returns ${type || "what has no type"} unchanged`, async () => {
      const output = await call({ make, answer: serve(type, body) });
      assert.equal((output as { content: string }).content, body);
    });
  }

  for (const [type, said] of [
    ["image/png", "image/png"],
    ["application/zip", "application/zip"],
    ["application/octet-stream", "application/octet-stream"],
    ["", "binary data"],
  ] as const) {
    it(`refuses ${type || "bytes without a type"}`, async () => {
      const answer = serve(type, Buffer.from([0x89, 0x50, 0, 1, 2]));
      await assert.rejects(call({ make, answer }), {
        code: "tool_failed",
        message: `\`http://example.com/page\` is ${said}, not text.`,
      });
    });
  }

  for (const type of ["application/pdf", "application/octet-stream"]) {
    it(`returns the text of a PDF that is served as ${type}`, async () => {
      const output = await call({ make, answer: serve(type, PDF) });
      assert.match((output as { content: string }).content, /Otters on paper/);
    });
  }

  it("refuses a PDF of which a limit left only the beginning", async () => {
    const body = Buffer.from(PDF.padEnd(6 * 1024 * 1024));
    await assert.rejects(call({ make, answer: serve("application/pdf", body) }), {
      code: "tool_failed",
      message: "The PDF at `http://example.com/page` is too large to be read.",
    });
  });

  it("names the host of its call for the rules, in one spelling", () => {
    const tool = make({ userAgent: "t", privateHosts: [], respectRobots: true });
    const hostsOf = (url: string) => tool.targets?.(tool.parse({ url })).hosts;
    assert.deepEqual(hostsOf("https://Example.COM.:8443/x"), ["example.com"]);
    assert.deepEqual(hostsOf("http://[::1]/"), ["::1"]);
    assert.deepEqual(hostsOf("http://0x7f.1/"), ["127.0.0.1"]);
    assert.equal(hostsOf("not a url"), undefined);
  });

  it("needs no approval for its own host, but does for the target of a redirect", async () => {
    const asked: string[] = [];
    const allowsHost = (host: string): boolean => asked.push(host) === 0;
    const answer: RequestListener = (_, response) =>
      response.writeHead(302, { location: "http://other.example/" }).end();
    await assert.rejects(call({ make, answer, allowsHost }), { code: "forbidden" });
    assert.deepEqual(asked, ["other.example"]);
  });
});

describe("scrape_webpage", () => {
  const make = createScrapeWebpageTool;

  itReadsPages("gives a page's main content as Markdown", async () => {
    const output = await call({ make, answer: serve("text/html", PAGE) });
    assert.match(String(output), /^#+ Otters\n/);
  });

  it("reports errors in its own words", async () => {
    await assert.rejects(call({ make, answer: serve("text/html", "Gone.", 404) }), {
      code: "tool_failed",
      message: "Error scraping URL: The server answered 404.",
    });
    const answer = serve("text/html", PAGE);
    await assert.rejects(call({ make, answer, arguments: { url: "http://10.0.0.1/" } }), {
      code: "forbidden",
      message: "Error scraping URL: The address is not allowed: 10.0.0.1 (a private network)",
    });
  });

  it("says that the page has no text", async () => {
    const answer = serve("text/html", "<body><div id=app></div><script>go()</script></body>");
    await assert.rejects(call({ make, answer }), {
      message: /^Error scraping URL: There is no text in it: /,
    });
  });

  it("says that the rest of a page was left out", async () => {
    const output = await call({ make, answer: serve("text/plain", "x".repeat(200_000)) });
    assert.match(String(output), /\n\n\[The page continues; the rest was left out\.\]$/);
  });
});
