import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CreateResponse } from "../../../src/protocol/request.ts";
import { checkSize, SIZE_LIMITS } from "../../../src/responses/request/check-size.ts";

describe("the size of a request", () => {
  const limits = { maxItems: 3, maxTools: 2, maxImageBytes: 30 };
  const user = (content: unknown): object => ({ type: "message", role: "user", content });
  const image = (bytes: number): object => ({
    type: "input_image",
    image_url: `data:image/png;base64,${Buffer.alloc(bytes).toString("base64")}`,
  });
  const check = (request: object): void => checkSize(request as CreateResponse, limits);

  it("is bounded by items, tools and what is inside them", () => {
    const cases: { request: object; param: string; message: RegExp }[] = [
      {
        request: { input: [1, 2, 3, 4].map(String).map(user) },
        param: "input",
        message: /4 input items.* 3/,
      },
      { request: { input: "x", tools: [{}, {}, {}] }, param: "tools", message: /3 tools.* 2/ },
      {
        request: { input: [user("a"), user([image(60)])] },
        param: "input[1]",
        message: /30 bytes/,
      },
      {
        request: { input: [{ type: "function_call_output", call_id: "c", output: [image(60)] }] },
        param: "input[0]",
        message: /30 bytes/,
      },
      {
        request: { input: [{ type: "computer_call_output", call_id: "c", output: image(60) }] },
        param: "input[0]",
        message: /30 bytes/,
      },
      {
        request: { input: [user([{ type: "input_file", file_data: "A".repeat(100) }])] },
        param: "input[0]",
        message: /30 bytes/,
      },
    ];
    for (const { request, ...failure } of cases) {
      assert.throws(() => check(request), { code: "invalid_request", ...failure });
    }
  });

  it("is fine up to the limits, and for addresses of any length", () => {
    check({ input: "x".repeat(1000) });
    check({ input: [user([image(20)]), user(null)], tools: [{}, {}] });
    check({
      input: [user([{ type: "input_image", image_url: `https://e.com/${"x".repeat(500)}` }])],
    });
    const tools = Array.from({ length: 10_000 }, () => ({ type: "function", name: "f" }));
    const request = { input: "x", tools } as unknown as CreateResponse;
    assert.throws(() => checkSize(request, SIZE_LIMITS), { param: "tools" });
  });
});
