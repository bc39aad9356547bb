import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../../src/base/clock.ts";
import type { ContentPart } from "../../../src/protocol/content.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelRequest, Provider } from "../../../src/providers/provider.ts";
import { checkMedia } from "../../../src/responses/media/check-media.ts";
import { findMedia } from "../../../src/responses/media/media-parts.ts";
import { provideMedia } from "../../../src/responses/media/media-provider.ts";
import { readsItself } from "../../../src/runtime/model-media.ts";
import { createScriptedProvider, reply } from "../../../src/testing/index.ts";
import { patience } from "../../patience.ts";
import { request } from "../../providers/provider-contract.ts";

const file = (file_url: string): ContentPart => ({ type: "input_file", file_url });
const said = (...content: ContentPart[]): Item[] => [{ type: "message", role: "user", content }];

/** Nothing is stored, and every use of the network fails. */
const NOWHERE = {
  kept: { shelf: undefined as never, clock: systemClock },
  tenant: "t",
  web: { resolve: () => Promise.reject(new Error("The network was asked.")) },
};

describe("addresses that a vendor reads itself", () => {
  const cases = [
    ["gemini/gemini-3-pro", "https://www.youtube.com/watch?v=abc", true],
    ["gemini/gemini-3-pro", "https://youtu.be/abc", true],
    ["gemini/gemini-3-pro", "https://www.youtube.com.evil.example/watch?v=abc", false],
    ["gemini/gemini-3-pro", "gs://bucket/a.pdf", true],
    ["gemini/gemini-3-pro", "s3://bucket/a.pdf", false],
    ["vertex/gemini-3-pro", "gs://bucket/a.pdf", true],
    ["bedrock/us.amazon.nova-pro-v1:0", "s3://bucket/a.pdf", true],
    ["bedrock/us.amazon.nova-pro-v1:0", "gs://bucket/a.pdf", false],
    ["openai/gpt-5", "s3://bucket/a.pdf", false],
    ["openai/gpt-5", "https://youtu.be/abc", false],
  ] as const;
  for (const [model, url, isRead] of cases) {
    it(`are ${isRead ? "" : "not "}those of ${url} for ${model}`, () => {
      assert.equal(readsItself({ model, provider: null, url: null })(url), isRead);
    });
  }

  it("go through as they are", async () => {
    const asked: ModelRequest[] = [];
    const inner = createScriptedProvider(reply.text("Seen."));
    const provider: Provider = {
      name: "noting",
      stream(request, call) {
        asked.push(request);
        return inner.stream(request, call);
      },
    };
    const items = said(file("https://youtu.be/abc"), file("gs://bucket/a.pdf"));
    const wrapped = provideMedia(provider, {
      ...NOWHERE,
      clock: systemClock,
      takes: { images: false, files: false },
      readsItself: readsItself({ model: "gemini/gemini-3-pro", provider: null, url: null }),
      reads: () => true,
    });
    const signal = patience();
    for await (const _ of wrapped.stream(request({ items }), { signal }));
    assert.deepEqual(asked[0]?.items, items);
  });
});

describe("files in a cloud's storage that a request names", () => {
  const readsAll = () => true;
  const check = (url: string, keyId: string | null, privateHosts: readonly string[] = []) =>
    checkMedia(findMedia(said(file(url))), {
      ...NOWHERE,
      keyId,
      readsItself: readsAll,
      web: { privateHosts },
    });

  it("are taken where no key is asked for", async () => {
    for (const url of ["s3://bucket/a.pdf", "gs://bucket/b/c.mp4"]) await check(url, null);
  });

  it("are taken from a key only from buckets that the operator named", async () => {
    await check("s3://bucket/a.pdf", "key_1", ["bucket"]);
    await assert.rejects(check("s3://bucket/a.pdf", "key_1", ["other"]), {
      code: "invalid_request",
      param: "input[0].content[0].file_url",
      message: /web_private_hosts/,
    });
  });

  it("are refused where they name no bucket, and so is every other scheme", async () => {
    for (const url of ["s3:///a.pdf", "gs://bucket", "ftp://host/a.pdf", "file:///etc/passwd"]) {
      await assert.rejects(check(url, null), { code: "invalid_request" }, url);
    }
  });
});
