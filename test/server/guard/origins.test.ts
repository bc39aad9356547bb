import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createOrigins } from "../../../src/server/guard/origins.ts";

const HOST = "localhost:8484";

describe("the check of origins", () => {
  const none = createOrigins([]);
  const some = createOrigins([
    "https://app.example",
    "https://*.lab.example",
    "http://localhost:*",
  ]);

  it("takes what no page sends", () => {
    none.check({ host: HOST });
    none.check({ host: HOST, "sec-fetch-site": "none" });
    none.check({ host: HOST, origin: `http://${HOST}`, "sec-fetch-site": "same-origin" });
  });

  const foreign = [
    ...["https://evil.example", "null", "http://localhost:3000", "http://localhost", "file://"],
    ...[`http://${HOST}.evil.example`, `http://evil.example/${HOST}`, `http://x@${HOST}`, ""],
  ];
  for (const origin of foreign) {
    it(`refuses a page of \`${origin}\``, () => {
      assert.throws(() => none.check({ host: HOST, origin }), { code: "forbidden" });
      assert.deepEqual(none.toHeaders("GET", { origin }), {});
    });
  }

  it("refuses a page's request without an origin", () => {
    for (const site of ["cross-site", "same-site"]) {
      const headers = { host: HOST, "sec-fetch-site": site };
      assert.throws(() => none.check(headers), { code: "forbidden" });
      assert.throws(() => some.check(headers), { code: "forbidden" });
    }
  });

  it("takes pages of the origins that are named, and tells them so", () => {
    for (const origin of [
      "https://app.example",
      "https://a.lab.example",
      "http://localhost:3000",
    ]) {
      some.check({ host: HOST, origin, "sec-fetch-site": "cross-site" });
      const headers = some.toHeaders("POST", { origin });
      assert.equal(headers["access-control-allow-origin"], origin);
      assert.equal(headers["vary"], "origin");
      assert.match(headers["access-control-expose-headers"] ?? "", /x-ratelimit-reset-tokens/);
    }
    for (const origin of [
      "https://app.example.evil",
      "http://app.example",
      "https://lab.example",
    ]) {
      assert.throws(() => some.check({ host: HOST, origin }), { code: "forbidden" });
      assert.deepEqual(some.toHeaders("POST", { origin }), { vary: "origin" });
    }
  });

  it("takes every page where that was asked for", () => {
    const any = createOrigins(["*"]);
    for (const origin of ["https://a.example:1", "null"]) {
      any.check({ host: HOST, origin });
      assert.equal(any.toHeaders("GET", { origin })["access-control-allow-origin"], origin);
    }
  });

  it("says before a page asks what it may ask", () => {
    const headers = some.toHeaders("OPTIONS", {
      origin: "https://app.example",
      "access-control-request-headers": "authorization, x-stainless-os, bad header, \u0001",
      "access-control-request-private-network": "true",
    });
    assert.equal(headers["access-control-allow-headers"], "authorization, x-stainless-os");
    assert.equal(headers["access-control-allow-methods"], "GET, POST, DELETE");
    assert.equal(headers["access-control-allow-private-network"], "true");
  });
});
