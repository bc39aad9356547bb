import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type PageResult,
  parseResults,
  readResults,
  toResultsText,
} from "../../../src/responses/kinds/web-results.ts";

const present = (results: readonly PageResult[] | undefined): unknown =>
  JSON.parse(JSON.stringify(results));
const PAGE = { url: "https://a.example", title: "A", snippet: "About a." };

describe("the results of a search tool", () => {
  const shapes: readonly (readonly [string, unknown])[] = [
    ["a list", [PAGE]],
    ["a list under a name", { results: [PAGE] }],
    ["a list two names deep", { web: { results: [PAGE] } }],
    ["a list after an empty one", { query: "a", images: [], results: [PAGE] }],
    ["a list after one of texts", { related: ["b"], results: [PAGE] }],
    ["other names for their fields", [{ link: PAGE.url, name: "A", description: "About a." }]],
    ["the content of the page", [{ href: PAGE.url, title: "A", content: "About a." }]],
    ["fields that are empty or no text", [{ ...PAGE, text: "", summary: null, score: 1 }]],
  ];
  for (const [what, json] of shapes) {
    it(`are read from JSON with ${what}`, () =>
      assert.deepEqual(present(parseResults(JSON.stringify(json))), [PAGE]));
  }

  it("are none for an empty list and an empty text", () => {
    for (const text of ["[]", '{"results":[]}', "", " \n"])
      assert.deepEqual(parseResults(text), []);
  });

  it("are the text itself, and each address in it once, if it is not JSON", () => {
    const text = "See https://a.example/x, and (https://b.example). Also https://a.example/x,";
    assert.deepEqual(present(parseResults(text)), [
      { text },
      { url: "https://a.example/x" },
      { url: "https://b.example" },
    ]);
  });

  it("leave out entries without an address and without words", () => {
    assert.deepEqual(present(parseResults('[{"title":"A"},{"text":"Words."},{}]')), [
      { text: "Words." },
    ]);
  });
});

describe("the results in an item", () => {
  it("are only texts, whatever a client or a vendor wrote there", () => {
    const held = [{ ...PAGE, score: 1, title: 7 }, "text", null, { url: "" }, { text: "Words." }];
    const { title: _, ...rest } = PAGE;
    assert.deepEqual(present(readResults(held)), [rest, { text: "Words." }]);
    for (const none of [undefined, null, "text", {}]) assert.equal(readResults(none), undefined);
  });
});

describe("results for a model", () => {
  it("are numbered with title, address and words, and ask it to cite", () => {
    const text = toResultsText([PAGE, { url: "https://b.example" }]);
    assert.match(text, /^1\. A\n {3}https:\/\/a\.example\n {3}About a\.\n2\. https:\/\/b\.example/);
    assert.match(text, /cite it right there/);
  });

  it("are the text of pages if there is any, and say that nothing was found", () => {
    assert.equal(toResultsText([{ text: "One." }, { text: "Two." }, PAGE]), "One.\n\nTwo.");
    assert.equal(toResultsText([]), "Nothing was found.");
  });
});
