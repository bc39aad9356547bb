import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { applyPrompt, type StoredPrompt } from "../../../src/responses/prompts/prompt.ts";

const image = { type: "input_image", image_url: "https://example.org/a.png" };

function apply(prompt: StoredPrompt, body: object): Promise<unknown> {
  return applyPrompt(body, async (id) => (id === "known" ? prompt : undefined));
}

describe("a prompt in a request", () => {
  it("gives instructions and defaults, and the request's own words win", async () => {
    const prompt = {
      fields: { model: "m", temperature: 0.2, stream: true },
      text: "Speak {{ language }}.",
    };
    const asked = { id: "known", variables: { language: "French" } };
    const body = await apply(prompt, { prompt: asked, input: "Hi", temperature: 1, model: null });
    assert.deepEqual(body, {
      model: "m",
      temperature: 1,
      instructions: "Speak French.",
      prompt: asked,
      input: "Hi",
    });
  });

  it("stands before the input where it is what the user says, with images in its gaps", async () => {
    const prompt = { fields: { role: "user" }, text: "Look: {{picture}} Is it {{what}}?" };
    const asked = { id: "known", variables: { picture: image, what: "a cat" } };
    const body = (await apply(prompt, { prompt: asked, input: "Say." })) as { input: unknown[] };
    assert.deepEqual(body.input, [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Look: " },
          image,
          { type: "input_text", text: " Is it a cat?" },
        ],
      },
      { type: "message", role: "user", content: "Say." },
    ]);
  });

  it("refuses an unknown prompt, an empty gap, and an image among instructions", async () => {
    const prompt = { fields: {}, text: "Speak {{language}}." };
    const failing = [
      [{ id: "other" }, "not_found", "prompt.id"],
      [{ id: "known" }, "invalid_request", "prompt.variables.language"],
      [
        { id: "known", variables: { language: image } },
        "invalid_request",
        "prompt.variables.language",
      ],
    ] as const;
    for (const [asked, code, param] of failing) {
      await assert.rejects(apply(prompt, { prompt: asked, input: "Hi" }), { code, param });
    }
  });

  it("leaves a body without one as it is", async () => {
    const body = { input: "Hi" };
    assert.equal(await apply({ fields: {}, text: "x" }, body), body);
  });
});
