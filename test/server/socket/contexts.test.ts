import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Context,
  createContexts,
  joinContext,
  NO_CONTEXT,
} from "../../../src/server/socket/contexts.ts";

const message = (content: string): object => ({ type: "message", role: "user", content });
const contextOf = (bytes: number): Context => ({ ...NO_CONTEXT, bytes });

describe("what a connection remembers", () => {
  it("is the last response of each stream", () => {
    const contexts = createContexts({ maxBytes: 100 });
    contexts.keep(undefined, "a", contextOf(1));
    contexts.keep("s", "b", contextOf(1));
    contexts.keep("s", "c", contextOf(1));
    const known = ["a", "b", "c"].filter((id) => contexts.find(id));
    assert.deepEqual(known, ["a", "c"]);
  });

  it("stays within its limit, and has room again for what was forgotten", () => {
    const contexts = createContexts({ maxBytes: 100 });
    contexts.keep("1", "a", contextOf(60));
    contexts.keep("2", "b", contextOf(60));
    assert.equal(contexts.find("b"), undefined);
    contexts.forget("a");
    contexts.forget("a");
    contexts.keep("2", "c", contextOf(100));
    assert.ok(contexts.find("c"));
    contexts.keep("2", "d", contextOf(101));
    assert.equal(contexts.find("c"), undefined);
  });

  it("begins with the last compaction, which has what was before it", () => {
    const before = { after: "resp_1", items: [message("1")], bytes: 5 };
    const joined = joinContext(before, [message("2")], 3);
    assert.deepEqual(joined, { after: "resp_1", items: [message("1"), message("2")], bytes: 8 });
    const compaction = { type: "compaction", encrypted_content: "x" };
    const short = joinContext(before, [message("2"), compaction, message("3")], 3);
    assert.deepEqual(short, { after: undefined, items: [compaction, message("3")], bytes: 3 });
    const first = joinContext(NO_CONTEXT, [compaction], 3);
    assert.deepEqual(first, { after: undefined, items: [compaction], bytes: 3 });
  });
});
