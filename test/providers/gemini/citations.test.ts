import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toCitations } from "../../../src/providers/gemini/citations.ts";

const web = { uri: "https://x.org", title: "X" };
const TEXT = "é b €";

describe("gemini citations", () => {
  it("count characters although Google counts bytes", () => {
    const groundingMetadata = {
      groundingChunks: [{ web }, { maps: { uri: "https://maps.x.org", title: "M" } }],
      groundingSupports: [
        { segment: { startIndex: 3, endIndex: 8 }, groundingChunkIndices: [0, 1] },
        { segment: { endIndex: 2 }, groundingChunkIndices: [0] },
      ],
    };
    const page = { type: "url_citation", url: "https://x.org", title: "X" };
    assert.deepEqual(toCitations([{ groundingMetadata }], TEXT), [
      { ...page, start_index: 2, end_index: 5 },
      { ...page, url: "https://maps.x.org", title: "M", start_index: 2, end_index: 5 },
      { ...page, start_index: 0, end_index: 1 },
    ]);
  });

  it("have no range if none is given", () => {
    const groundingMetadata = { groundingChunks: [{ retrievedContext: web }] };
    assert.deepEqual(toCitations([{ groundingMetadata }], TEXT), [
      { type: "url_citation", url: "https://x.org", title: "X" },
    ]);
  });

  it("have no range if a support names no segment", () => {
    const groundingMetadata = {
      groundingChunks: [{ web }],
      groundingSupports: [{ segment: null, groundingChunkIndices: [0] }],
    };
    assert.deepEqual(toCitations([{ groundingMetadata }], TEXT), [
      { type: "url_citation", url: "https://x.org", title: "X" },
    ]);
  });

  it("are read under both names of the quoted text, each once", () => {
    const quote = { startIndex: 0, endIndex: 2, uri: "https://y.org" };
    const citations = toCitations(
      [
        { citationMetadata: { citations: [quote] } },
        { citationMetadata: { citationSources: [quote] } },
      ],
      TEXT,
    );
    assert.deepEqual(citations, [
      { type: "url_citation", url: "https://y.org", title: "", start_index: 0, end_index: 1 },
    ]);
  });

  it("skip sources without an address, and ranges without a source", () => {
    const groundingMetadata = {
      groundingChunks: [{}, { web: { title: "X" } }],
      groundingSupports: [{ segment: { endIndex: 1 }, groundingChunkIndices: [0, 1, 7] }, {}],
    };
    assert.deepEqual(toCitations([{ groundingMetadata, citationMetadata: null }], TEXT), []);
  });
});
