import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTransport } from "../../src/providers/http/transport.ts";
import { createImagesServer } from "../../src/runtime/images-server.ts";
import { patience } from "../patience.ts";
import { pictureOf, startImagesUpstream } from "./images-upstream.ts";

const asking = {
  get signal() {
    return patience();
  },
  onPartial: async () => {},
};

describe("the images server", () => {
  it("is asked with the key that the settings name", async () => {
    await using upstream = await startImagesUpstream({ key: "sk-1" });
    const transport = createTransport({});
    const settings = { model: "gpt-image-1", url: upstream.url, api_key_name: "IMAGE_KEY" };
    const open = async () => transport;
    const server = createImagesServer(settings, { open }, { IMAGE_KEY: "sk-1" });
    assert.equal(server.host, "127.0.0.1");
    const made = await server.make({ prompt: "A cat" }, asking);
    assert.equal(made.b64_json, pictureOf("generation A cat"));
    const keyless = createImagesServer(settings, { open }, {});
    await assert.rejects(keyless.make({ prompt: "x" }, asking), /set IMAGE_KEY/);
    await transport.close();
  });

  it("is refused without an address", () => {
    const settings = { model: "m", url: "nowhere", api_key_name: null };
    const open = () => Promise.reject(new Error("not to be opened"));
    assert.throws(() => createImagesServer(settings, { open }, {}), /`nowhere` is not an address/);
  });
});
