import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Annotation } from "../../../src/protocol/content.ts";
import type { Item, Message } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { createCitations } from "../../../src/responses/bridge/citations.ts";

const SEARCHED = {
  type: "web_search_call",
  action: { type: "search", query: "x", sources: [{ type: "url", url: "https://b.org/page/" }] },
  results: [{ url: "https://a.org/one?x=1", title: "One" }],
} as unknown as Item;

const FILES: Item = {
  type: "file_search_call",
  queries: ["x"],
  results: [
    { file_id: "file-1", filename: "a.md", text: "…" },
    { file_id: "file-2", filename: "b.md", text: "…" },
  ],
};

const CODE = {
  type: "code_interpreter_call",
  container_id: "cntr_1",
  code: "…",
  status: "completed",
  files: [
    { file_id: "cfile_1", path: "/mnt/data/plot.png" },
    { file_id: "cfile_2", path: "/mnt/data/out/my table.csv" },
    { file_id: "cfile_3", path: "/mnt/data/\ud800" },
  ],
} as unknown as Item;

interface Told {
  readonly deltas: string;
  readonly annotations: readonly Annotation[];
  readonly part: { readonly text: string; readonly annotations?: readonly Annotation[] };
}

/** A message, told in pieces, as it comes out. */
function tell(text: string, history: readonly Item[], pieceLength = 4): Told {
  const citations = createCitations(history) ?? assert.fail("nothing can be cited");
  const empty: Message = { type: "message", role: "assistant", content: [] };
  const pieces = text.match(new RegExp(`[\\s\\S]{1,${pieceLength}}`, "g")) ?? [];
  const content: Message["content"] = [{ type: "output_text", text }];
  const events: ModelEvent[] = [
    { type: "item_start", index: 0, item: empty },
    ...pieces.map((delta): ModelEvent => ({ type: "text_delta", index: 0, part: 0, delta })),
    { type: "item_end", index: 0, item: { ...empty, content } },
  ];
  const told = events.flatMap((event) => citations.read(event));
  const last = told.at(-1);
  const item = last?.type === "item_end" ? (last.item as Message) : assert.fail();
  return {
    deltas: told.map((event) => (event.type === "text_delta" ? event.delta : "")).join(""),
    annotations: told.flatMap((event) => (event.type === "annotation" ? [event.annotation] : [])),
    part: (item.content as unknown as Told["part"][])[0] ?? assert.fail(),
  };
}

describe("citations", () => {
  it("keep the probability of every token in the pieces", () => {
    const citations = createCitations([FILES]) ?? assert.fail();
    const empty: Message = { type: "message", role: "assistant", content: [] };
    const pieces = ["One ", "【file", "-1】", " and ", "two"];
    const content = [{ type: "output_text" as const, text: pieces.join("") }];
    const events: ModelEvent[] = [
      { type: "item_start", index: 0, item: empty },
      ...pieces.map((delta): ModelEvent => {
        const logprobs = [{ token: delta, logprob: -1 }];
        return { type: "text_delta", index: 0, part: 0, delta, logprobs };
      }),
      { type: "item_end", index: 0, item: { ...empty, content } },
    ];
    const told = events.flatMap((event) => citations.read(event));
    const tokens = told.flatMap((event) =>
      event.type === "text_delta" ? (event.logprobs ?? []).map(({ token }) => token) : [],
    );
    assert.deepEqual(tokens, pieces);
  });

  it("are none if nothing was searched", () => {
    assert.equal(createCitations([{ type: "message", role: "user", content: "Hi" }]), undefined);
  });

  it("are links and addresses of pages that were found, with exact places", () => {
    const text =
      "So it is ([One](https://a.org/one?x=1)), as https://www.b.org/page says. Not https://c.org.";
    const { part, annotations, deltas } = tell(text, [SEARCHED]);
    assert.equal(deltas, text);
    assert.equal(part.text, text);
    assert.deepEqual(part.annotations, annotations);
    assert.deepEqual(
      annotations.map((one) =>
        one.type === "url_citation"
          ? [one.url, one.title, text.slice(one.start_index, one.end_index)]
          : assert.fail(),
      ),
      [
        ["https://a.org/one?x=1", "One", "[One](https://a.org/one?x=1)"],
        ["https://b.org/page/", "", "https://www.b.org/page"],
      ],
    );
  });

  it("know an address with brackets and a counter in it, and the end of a sentence", () => {
    const wiki = "https://w.org/Cat_(animal)";
    const history = [{ ...SEARCHED, results: [{ url: wiki }] } as unknown as Item];
    const spans = (text: string): string[] =>
      tell(text, history).annotations.map((one) =>
        text.slice(
          (one as { start_index: number }).start_index,
          (one as { end_index: number }).end_index,
        ),
      );
    assert.deepEqual(spans(`See (${wiki}).`), [wiki]);
    assert.deepEqual(spans(`[Cat](${wiki})`), [`[Cat](${wiki})`]);
    assert.deepEqual(spans(`${wiki}?utm_source=x, or`), [`${wiki}?utm_source=x`]);
  });

  it("are markers of files that were found, which leave the text", () => {
    const { part, annotations, deltas } = tell(
      "It is so 【file-1】. And so【b.md】, too 【file-1, file-2】! Not 【file-9】 【】.",
      [FILES],
    );
    const text = "It is so. And so, too! Not 【file-9】 【】.";
    assert.equal(deltas, text);
    assert.equal(part.text, text);
    const cite = (file_id: string, filename: string, index: number): Annotation => ({
      type: "file_citation",
      file_id,
      filename,
      index,
    });
    const places = annotations.map((one) => {
      assert.ok(one.type === "file_citation");
      const { quote: _, start_index: __, end_index: ___, ...place } = one;
      return place;
    });
    assert.deepEqual(places, [
      cite("file-1", "a.md", 8),
      cite("file-2", "b.md", 16),
      cite("file-1", "a.md", 21),
      cite("file-2", "b.md", 21),
    ]);
    assert.deepEqual(part.annotations, annotations);
  });

  it("of a file name the statement they are for and quote the passage that fits it best", () => {
    const text = [
      "Refunds are paid within 30 days. Shipping takes a week.",
      "Returns need the receipt.\nWrite to us.",
    ];
    const found: Item = {
      type: "file_search_call",
      queries: ["x"],
      results: text.map((one) => ({ file_id: "file-1", filename: "a.md", text: one })),
    };
    const said =
      "We pay. Refunds come within 30 days 【file-1】.\nBring the receipt!【file-1】 Bye.";
    const { annotations, part } = tell(said, [found]);
    assert.deepEqual(part.annotations, annotations);
    assert.deepEqual(
      annotations.map((one) => {
        assert.ok(one.type === "file_citation");
        return [part.text.slice(one.start_index, one.end_index), one.quote];
      }),
      [
        ["Refunds come within 30 days", "Refunds are paid within 30 days."],
        ["Bring the receipt!", "Returns need the receipt."],
      ],
    );
  });

  it("of a file whose passages are not known quote nothing", () => {
    const found: Item = {
      type: "file_search_call",
      queries: ["x"],
      results: [{ file_id: "file-1", filename: "a.md" }],
    };
    const [one] = tell("So 【file-1】", [found]).annotations;
    assert.ok(one?.type === "file_citation");
    assert.deepEqual([one.quote, one.start_index, one.end_index], ["", 0, 2]);
  });

  it("are the same in pieces of any length as in the whole", () => {
    const words = fc.array(
      fc.constantFrom(
        " ",
        "【",
        "】",
        "file-1",
        "word",
        "\n",
        "【file-2】",
        "[a](https://b.org/page)",
        "🙂",
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 9 }), (parts, length) => {
        const { deltas, part, annotations } = tell(parts.join(""), [SEARCHED, FILES], length);
        assert.equal(deltas, part.text);
        assert.deepEqual(part.annotations ?? [], annotations);
      }),
    );
  });

  it("are left to a vendor that makes its own", () => {
    const citations = createCitations([SEARCHED]) ?? assert.fail();
    const content: Message["content"] = [{ type: "output_text", text: "https://b.org/page" }];
    const item: Message = { type: "message", role: "assistant", content };
    const own: ModelEvent = {
      type: "annotation",
      index: 0,
      part: 0,
      annotation: { type: "url_citation", url: "https://b.org/page", title: "" },
    };
    const events: ModelEvent[] = [
      { type: "item_start", index: 0, item: { ...item, content: [] } },
      { type: "text_delta", index: 0, part: 0, delta: "https://b.org/page" },
      own,
      { type: "item_end", index: 0, item },
    ];
    assert.deepEqual(
      events.flatMap((event) => citations.read(event)),
      events,
    );
  });

  it("are links to files that code has written, each under both names, with the place of the address", () => {
    const text =
      "[Plot](sandbox:/mnt/data/plot.png), [table](sandbox:/mnt/data/out/my%20table.csv), sandbox:/mnt/data/plot.png. Not sandbox:/mnt/data/plot.png.gz or sandbox:/mnt/data/other.png.";
    const { part, annotations, deltas } = tell(text, [CODE]);
    assert.equal(deltas, text);
    assert.deepEqual(part.annotations, annotations);
    const address = "sandbox:/mnt/data/plot.png";
    const expected: readonly (readonly [string, string, string])[] = [
      ["cfile_1", "plot.png", address],
      ["cfile_2", "my table.csv", "sandbox:/mnt/data/out/my%20table.csv"],
      ["cfile_1", "plot.png", address],
    ];
    const cited = annotations.filter((one) => one.type === "container_file_citation");
    assert.deepEqual(
      cited.map((one) => [
        ...[one.file_id, one.filename, text.slice(one.start_index, one.end_index)],
      ]),
      expected,
    );
    assert.ok(cited.every((one) => one.container_id === "cntr_1"));
    // Beside each of them, the same place as a path.
    assert.deepEqual(
      annotations.filter((_, at) => at % 2 === 1),
      cited.map(({ file_id, start_index, end_index }) => {
        return { type: "file_path", file_id, index: start_index, start_index, end_index };
      }),
    );
    assert.equal(tell("[My](sandbox:/mnt/data/out/my table.csv)", [CODE]).annotations.length, 2);
  });

  it("are paths of files that code has written, where no link is", () => {
    const text =
      "It is in `/mnt/data/plot.png` and /mnt/data/out/my table.csv. Not https://a.org/mnt/data/plot.png, file:///mnt/data/plot.png, ./mnt/data/plot.png, /mnt/data/plot.png2 or plot.png.";
    const { annotations, part } = tell(text, [CODE]);
    assert.deepEqual(part.annotations, annotations);
    assert.deepEqual(
      annotations.map((one) => {
        assert.ok(one.type === "file_path");
        assert.equal(one.index, one.start_index);
        return [one.file_id, text.slice(one.start_index, one.end_index)];
      }),
      [
        ["cfile_1", "/mnt/data/plot.png"],
        ["cfile_2", "/mnt/data/out/my table.csv"],
      ],
    );
  });

  it("do not know files outside the container's folder, whatever a client sends", () => {
    const files = ["", "/", "a", "/mnt/data/"].map((path) => ({ file_id: "cfile_1", path }));
    const sent = { ...CODE, files } as unknown as Item;
    assert.deepEqual(tell("a / sandbox:/ sandbox:a /mnt/data/", [sent, SEARCHED]).annotations, []);
  });

  it("are of the file that was last written under a path", () => {
    const again = {
      ...CODE,
      container_id: "cntr_2",
      files: [{ file_id: "cfile_9", path: "/mnt/data/plot.png" }],
    } as unknown as Item;
    const [one, path] = tell("sandbox:/mnt/data/plot.png", [CODE, again]).annotations;
    assert.ok(one?.type === "container_file_citation" && path?.type === "file_path");
    assert.deepEqual(
      [one.file_id, one.container_id, path.file_id],
      ["cfile_9", "cntr_2", "cfile_9"],
    );
  });
});
