import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { listFiles } from "../list-files.ts";

const WEB = fileURLToPath(new URL("../../../web", import.meta.url));
/** What makes elements or code of text. Trusted types refuse them, too, in browsers that have those. */
const UNSAFE =
  /innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|srcdoc|document\.write|\beval\(|new Function|setAttribute\("(style|on)/;

describe("the source of the console", () => {
  it("never makes elements or code of text", () => {
    const files = [...listFiles(WEB, ".ts"), ...listFiles(WEB, ".tsx")];
    assert.ok(files.length > 50);
    const found = files.filter((file) => UNSAFE.test(readFileSync(join(WEB, file), "utf8")));
    assert.deepEqual(found, []);
  });
});
