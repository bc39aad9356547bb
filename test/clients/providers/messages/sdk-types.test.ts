import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import { encodeBody } from "../../../../src/providers/messages/encode.ts";
import type { MessagesBody } from "../../../../src/providers/messages/schema.ts";
import { request } from "../../../providers/provider-contract.ts";

/** Absent fields are not sent, so none of them is `undefined` there. */
type Sent<Body> = { [Field in keyof Body]: Exclude<Body[Field], undefined> };

/** Compiles only as long as the vendor's own types accept every body that we write. */
const toVendor = (body: Sent<MessagesBody>): MessageCreateParamsStreaming => body;

describe("the vendor's own types", () => {
  it("accept every body of the Messages API", () => {
    const body = encodeBody(request({ model: "claude-opus-5" }), {});
    const sent = JSON.parse(JSON.stringify(body)) as Sent<MessagesBody>;
    assert.equal(toVendor(sent).model, "claude-opus-5");
  });
});
