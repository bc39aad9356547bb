import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Item } from "../../../src/protocol/items.ts";
import { INCLUDES } from "../../../src/protocol/request.ts";
import { lacksSeal, showItem, toSummarised } from "../../../src/responses/fold/show-item.ts";

const shown = (item: object, ...include: string[]): object =>
  showItem(item as Item, new Set(include));

const SEARCH = {
  type: "web_search_call",
  action: { type: "search", query: "zebra", sources: [{ type: "url", url: "https://a.example" }] },
  results: [{ url: "https://a.example", title: "A" }],
};
const FOUND = { type: "file_search_call", queries: ["zebra"], results: [{ text: "A zebra." }] };
const THOUGHT = { type: "reasoning", summary: [], encrypted_content: "sealed" };
const SCREEN = {
  type: "computer_call_output",
  call_id: "c",
  output: { type: "computer_screenshot", image_url: "data:image/png;base64,AA==", file_id: "f" },
};
const SAID = {
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text: "a", logprobs: [{ token: "a", logprob: -1 }] }],
};
const PICTURE = {
  type: "message",
  role: "user",
  content: [{ type: "input_image", image_url: "data:image/png;base64,AA==" }],
};

describe("an item for a client that includes nothing more", () => {
  const { results: _, ...search } = SEARCH;
  const { sources, ...action } = SEARCH.action;
  const { image_url, ...screen } = SCREEN.output;
  const cases: readonly (readonly [string, object, object])[] = [
    ["a search without its results and sources", SEARCH, { ...search, action }],
    ["a search in files with null for its results", FOUND, { ...FOUND, results: null }],
    ["a screen without its picture", SCREEN, { ...SCREEN, output: screen }],
    ["a thought without its seal", THOUGHT, { type: "reasoning", summary: [] }],
    [
      "a message without probabilities",
      SAID,
      { ...SAID, content: [{ ...SAID.content[0], logprobs: [] }] },
    ],
    [
      "a user's picture without its address",
      PICTURE,
      { ...PICTURE, content: [{ type: "input_image", image_url: null }] },
    ],
    ["an unfinished search as it is", { type: "web_search_call" }, { type: "web_search_call" }],
    ["an unknown item as it is", { type: "acme", results: [1] }, { type: "acme", results: [1] }],
  ];
  for (const [what, item, expected] of cases) {
    it(`is ${what}`, () => assert.deepEqual(shown(item), expected));
  }

  it("is not changed itself", () => {
    const before = structuredClone(SEARCH);
    shown(SEARCH);
    assert.deepEqual(SEARCH, before);
  });
});

describe("an item for a client that includes a field", () => {
  const cases: readonly (readonly [object, string])[] = [
    [FOUND, "file_search_call.results"],
    [SCREEN, "computer_call_output.output.image_url"],
    [THOUGHT, "reasoning.encrypted_content"],
    [SAID, "message.output_text.logprobs"],
    [PICTURE, "message.input_image.image_url"],
  ];
  for (const [item, name] of cases) {
    it(`has it: ${name}`, () => assert.deepEqual(shown(item, name), item));
  }

  it("has the results of a search without its sources, and the other way round", () => {
    const results = shown(SEARCH, "web_search_call.results") as typeof SEARCH;
    assert.deepEqual(results.results, SEARCH.results);
    assert.ok(!("sources" in results.action));
    const sources = shown(SEARCH, "web_search_call.action.sources") as typeof SEARCH;
    assert.deepEqual(sources.action, SEARCH.action);
    assert.ok(!("results" in sources));
  });

  it("is whole if it includes everything, and if nothing is hidden", () => {
    for (const item of [SEARCH, FOUND, SCREEN, THOUGHT, SAID, PICTURE]) {
      assert.deepEqual(shown(item, ...INCLUDES), item);
      assert.equal(showItem(item as Item, undefined), item as Item);
    }
  });

  it("keeps its type and id, whatever is included", () => {
    const items = [SEARCH, FOUND, SCREEN, THOUGHT, SAID, PICTURE];
    const property = fc.property(
      fc.constantFrom(...items),
      fc.subarray([...INCLUDES]),
      (item, include) => {
        const made = shown({ ...item, id: "x_1" }, ...include) as { type: string; id: string };
        assert.deepEqual([made.type, made.id], [item.type, "x_1"]);
      },
    );
    fc.assert(property, { numRuns: 100 });
  });
});

describe("a program for any client", () => {
  const code = (fields: object): object => ({ type: "code_interpreter_call", ...fields });

  it("has its outputs, and null if there are none", () => {
    const outputs = [{ type: "logs", logs: "1" }];
    assert.deepEqual(shown(code({ outputs })), code({ outputs }));
    assert.deepEqual(shown(code({})), code({ outputs: null }));
  });

  it("has the address of a picture under both names that clients read", () => {
    const both = { type: "image", url: "https://p.example", image_url: "https://p.example" };
    for (const name of ["url", "image_url"]) {
      const outputs = [{ type: "image", [name]: "https://p.example" }];
      assert.deepEqual(shown(code({ outputs })), code({ outputs: [both] }));
    }
  });

  it("has the files that it wrote beside its outputs, not among them", () => {
    const files = [{ file_id: "cfile_1", path: "a.csv" }];
    assert.deepEqual(
      shown(code({ outputs: [], files })),
      code({ outputs: [], files: [{ type: "file", ...files[0] }] }),
    );
    assert.deepEqual(shown(code({ outputs: [], files: [] })), code({ outputs: [] }));
  });
});

describe("a thought as a summary", () => {
  const content = [{ type: "reasoning_text" as const, text: "Hm" }];
  const summary = [{ type: "summary_text" as const, text: "Hm" }];

  it("is made of its text if the model has written no summary", () => {
    const item: Item = { type: "reasoning", summary: [], content };
    assert.deepEqual(toSummarised(item), { type: "reasoning", summary, content: [] });
  });

  it("is left alone if there is one, or no text", () => {
    const written: Item = { type: "reasoning", summary, content };
    const empty: Item = { type: "reasoning", summary: [] };
    for (const item of [written, empty]) assert.equal(toSummarised(item), item);
  });

  it("lacks a seal only if it is a thought without one", () => {
    assert.ok(lacksSeal({ type: "reasoning", summary: [] }));
    assert.ok(!lacksSeal(THOUGHT as Item));
    assert.ok(!lacksSeal(SAID as Item));
  });
});
