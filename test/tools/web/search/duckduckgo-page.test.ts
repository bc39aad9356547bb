import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readDuckDuckGo } from "../../../../src/tools/web/search/duckduckgo-page.ts";
import { LITE_PAGE, NOTHING_PAGE, RESULTS_PAGE, WALL_PAGE } from "./search-services.ts";

describe("readDuckDuckGo", () => {
  it("unwraps links and leaves advertisements out", async () => {
    const results = await readDuckDuckGo(RESULTS_PAGE);
    assert.deepEqual(
      results?.map(({ url }) => url),
      [
        "https://otters.example/a?b=1&c=2",
        "https://direct.example/",
        "https://otters.example/a?b=1&c=2",
        "javascript:alert(1)",
      ],
    );
    assert.equal(results?.[0]?.title, "Otters & their ponds");
    assert.match(results?.[0]?.description ?? "", /^Otters hold\s+hands\.$/);
    assert.equal(results?.[1]?.description, "");
  });

  it("reads the lite page", async () => {
    assert.deepEqual(await readDuckDuckGo(LITE_PAGE), [
      { title: "One", url: "https://one.example/", description: "The first." },
      { title: "Two", url: "https://two.example/", description: "The second." },
    ]);
  });

  it("distinguishes a page without results from an unknown page", async () => {
    assert.deepEqual(await readDuckDuckGo(NOTHING_PAGE), []);
    assert.deepEqual(await readDuckDuckGo("<table><tr><td>No results.</td></tr></table>"), []);
    assert.equal(await readDuckDuckGo("<html><body>Welcome</body></html>"), undefined);
    assert.equal(await readDuckDuckGo(WALL_PAGE), undefined);
  });
});
