import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Failure } from "../../../../src/base/failure.ts";
import { checkHost, checkUrl, toHostName } from "../../../../src/tools/web/network/url-guard.ts";

describe("the URL guard", () => {
  for (const [text, href] of [
    ["https://example.com", "https://example.com/"],
    ["HTTPS://Example.COM./a", "https://example.com/a"],
    ["http://example.com:8080/a?b=c#d", "http://example.com:8080/a?b=c#d"],
    ["https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"],
    ["https://example.com/?path=C:\\x", "https://example.com/?path=C:\\x"],
    ["https://example.com/@user", "https://example.com/@user"],
    ["https://8.8.8.8/", "https://8.8.8.8/"],
    ["https://[2606:4700::1111]/", "https://[2606:4700::1111]/"],
  ] as const) {
    it(`takes ${text}`, () => {
      const url = checkUrl(text);
      assert.equal(url.href, href);
      assert.equal(checkHost(url), undefined);
    });
  }

  it("resolves a redirect against its origin", () => {
    const base = new URL("https://example.com/a/b");
    assert.equal(checkUrl("../c", base).href, "https://example.com/c");
    assert.equal(checkUrl("//other.example/", base).href, "https://other.example/");
    assert.throws(() => checkUrl("//user@other.example/", base), { code: "forbidden" });
  });

  it("does not take a name for a private one because of its last letters", () => {
    for (const host of ["mylocalhost", "notlocal.com", "local.example", "internal.example.com"]) {
      assert.equal(checkHost(new URL(`http://${host}/`)), undefined);
    }
  });

  it("either refuses a text or gives a URL of the web without a login", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "http://",
        "https:",
        "//",
        "@",
        ":",
        "\\",
        "[",
        "]",
        "::1",
        "127.1",
        ".",
        "%00",
      ),
      fc.string({ maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join("");
        try {
          const url = checkUrl(text);
          assert.match(url.protocol, /^https?:$/);
          assert.equal(url.username + url.password, "");
          assert.notEqual(toHostName(url), "");
          // The same host for any program that parses it again.
          assert.equal(new URL(url.href).host, url.host);
        } catch (thrown) {
          assert.ok(thrown instanceof Failure, String(thrown));
        }
      }),
      { numRuns: 500 },
    );
  });
});
