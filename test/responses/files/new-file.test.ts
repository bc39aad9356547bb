import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseNewFile } from "../../../src/responses/files/new-file.ts";

describe("parseNewFile", () => {
  const anchor = "created_at";

  it("reads a form's fields, and an object's", () => {
    const expected = { filename: "a.txt", purpose: "vision", expiresAfterMs: 7_200_000 };
    const flat = { "expires_after[anchor]": anchor, "expires_after[seconds]": "7200" };
    assert.deepEqual(parseNewFile("a.txt", { purpose: "vision", ...flat }), expected);
    const nested = { expires_after: { anchor, seconds: 7200 } };
    assert.deepEqual(parseNewFile("a.txt", { purpose: "vision", ...nested }), expected);
    const plain = parseNewFile("a.txt", { purpose: "vision" });
    assert.deepEqual(plain, { ...expected, expiresAfterMs: undefined });
  });

  const wrong: [object, string][] = [
    [{}, "purpose"],
    [{ purpose: "fun" }, "purpose"],
    [{ purpose: "vision", "expires_after[seconds]": "7200" }, "expires_after.anchor"],
    [
      { purpose: "vision", expires_after: { anchor: "last_active_at", seconds: 7200 } },
      "expires_after.anchor",
    ],
    [{ purpose: "vision", expires_after: { anchor } }, "expires_after.seconds"],
    ...["3599", "2592001", "1e9", "-1", "x"].map((seconds): [object, string] => [
      { purpose: "vision", expires_after: { anchor, seconds } },
      "expires_after.seconds",
    ]),
  ];
  for (const [fields, param] of wrong) {
    it(`refuses ${JSON.stringify(fields)}`, () => {
      const refused = { code: "invalid_request", param };
      assert.throws(() => parseNewFile("a", { ...fields }), refused);
    });
  }

  it("keeps only the last step of a name, and nothing that a terminal interprets", () => {
    const names = {
      "../../etc/passwd": "passwd",
      "C:\\secret\\a.txt": "a.txt",
      "a\r\nSet-Cookie: x": "aSet-Cookie: x",
      "nul\0.txt": "nul.txt",
      "..": "file",
      "a/": "file",
      "": "file",
      "漢字 🙂.pdf": "漢字 🙂.pdf",
      ["x".repeat(300)]: "x".repeat(255),
    };
    for (const [given, expected] of Object.entries(names)) {
      assert.equal(parseNewFile(given, { purpose: "vision" }).filename, expected);
    }
  });
});
