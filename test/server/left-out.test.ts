/** Fields of a request that reach the model, and those that are reported as left out. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply } from "../../src/testing/index.ts";
import type { ProviderName } from "../conformance/provider-servers.ts";
import { createServers } from "./server-complaints-fixture.ts";

const HI = { input: "Hi" };
const answer = () => reply.text("{}");

describe("fields that are left out", () => {
  const ask = createServers();

  const ignoredOf = async (name: ProviderName, body: object): Promise<[string, string]> => {
    const { server } = await ask(name, answer);
    const { offshoot, service_tier } = await server.create({ ...HI, ...body });
    return [offshoot?.ignored.join(", ") ?? "", service_tier];
  };

  const format = {
    type: "json_schema",
    name: "thing",
    description: "A thing of the sea.",
    schema: { type: "object", properties: {}, additionalProperties: false },
    strict: true,
  };

  for (const name of ["chat", "responses"] as const) {
    it(`do not include the description of a format that the API knows (${name})`, async () => {
      const { server, sent } = await ask(name, answer);
      const made = await server.create({ ...HI, text: { format } });
      assert.match(sent(), /A thing of the sea\./);
      assert.equal(made.offshoot, undefined);
    });
  }

  for (const name of [
    "messages",
    "gemini",
    "cohere",
    "ollama",
    "bedrock",
    "llamacpp",
    "embedded",
  ] as const) {
    it(`is named where it is the description of a format (${name})`, async () => {
      const [ignored] = await ignoredOf(name, { text: { format } });
      assert.match(ignored, /text\.format\.description/);
    });
  }

  it("are named if they are an unknown `include`", async () => {
    for (const store of [true, false]) {
      const include = ["nope", "message.input_image.image_url", "foo.bar"];
      const [ignored] = await ignoredOf("chat", { store, include });
      assert.equal(ignored, "include (nope), include (foo.bar)");
    }
  });

  it("include a tier that the model's API does not know: named, and not reported as used", async () => {
    for (const store of [true, false]) {
      for (const name of ["chat", "llamacpp", "embedded"] as const) {
        const told = await ignoredOf(name, { store, service_tier: "flex" });
        assert.deepEqual(told, ["service_tier", "default"], name);
      }
      const known = await ignoredOf("responses", { store, service_tier: "flex" });
      assert.deepEqual(known, ["", "flex"]);
    }
  });

  it("do not include the tiers `auto` and `default`, which every answer has", async () => {
    for (const store of [true, false]) {
      for (const service_tier of ["auto", "default"]) {
        for (const name of [
          "chat",
          "messages",
          "gemini",
          "cohere",
          "ollama",
          "embedded",
        ] as const) {
          const told = await ignoredOf(name, { store, service_tier });
          assert.deepEqual(told, ["", "default"], `${name} ${service_tier}`);
        }
      }
    }
  });
});

describe("an unknown format", () => {
  const ask = createServers();

  it("is refused, by the field's name at each address", async () => {
    const { server, asked } = await ask("chat", answer);
    const format = { type: "xml" };
    const messages = [{ role: "user", content: "Hi" }];
    for (const [path, body, param] of [
      ["/v1/responses", { ...HI, text: { format } }, "text.format.type"],
      ["/v1/chat/completions", { messages, response_format: format }, "response_format.type"],
    ] as const) {
      const { status, body: said } = await server.ask("POST", path, body);
      assert.equal(status, 400, JSON.stringify(said));
      assert.equal((said as { error: { param: string } }).error.param, param);
    }
    assert.equal(asked.length, 0);
  });
});
