import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import { parsePayload } from "../../src/delegation/runner/payload.ts";
import { MAX_PAYLOAD_BYTES, readPayload } from "../../src/delegation/runner/payload-input.ts";
import { watchParent } from "../../src/delegation/runner/watch-parent.ts";
import { createManualClock } from "../../src/testing/index.ts";

const TEN: JsonObject = {
  model: "test-model",
  provider: "openai-chat",
  url: "http://127.0.0.1:1/v1",
  api_key_name: "TEST_KEY",
  prompt: "Hello",
  system_prompt: "Be brief.",
  tool_subset: ["search_web", "scrape_webpage"],
  think: false,
  temperature: 0.8,
  max_tokens: 8192,
};

describe("a payload", () => {
  it("is complete with ten fields", () => {
    const payload = parsePayload(TEN);
    for (const [name, value] of Object.entries(TEN)) {
      assert.deepEqual(payload[name as keyof typeof payload], value, name);
    }
    assert.deepEqual([payload.grant, payload.depth, payload.on_throw], [undefined, 0, "end"]);
  });

  it("needs only a model and a prompt, and null is the same as nothing", () => {
    const nothing = Object.fromEntries(Object.keys(TEN).map((name) => [name, null]));
    const payload = parsePayload({ ...nothing, model: "m", prompt: "p" });
    assert.deepEqual([payload.url, payload.tool_subset, payload.think], [null, [], false]);
    assert.deepEqual(payload, parsePayload({ model: "m", prompt: "p", url: "", provider: "" }));
  });

  it("may have unknown fields", () => {
    assert.deepEqual(parsePayload({ ...TEN, colour: "red" }), parsePayload(TEN));
  });

  const FORMATS: readonly [JsonObject, JsonObject][] = [
    [{}, { type: "text" }],
    [{ output_mode: "json_object" }, { type: "json_object" }],
    ...["output_schema", "schema"].map((name): [JsonObject, JsonObject] => [
      { [name]: { type: "object" } },
      { type: "json_schema", name: "report", schema: { type: "object" }, strict: true },
    ]),
  ];
  for (const [fields, format] of FORMATS) {
    it(`asks for ${format["type"]} with ${JSON.stringify(fields)}`, () => {
      assert.deepEqual(parsePayload({ ...TEN, ...fields }).format, format);
    });
  }

  const WRONG: readonly [JsonObject, RegExp][] = [
    [{ model: undefined }, /it lacks `model`/],
    [{ prompt: "  " }, /it lacks `prompt`/],
    [{ prompt: ["Hi"] }, /`prompt` must be a text/],
    [{ tool_subset: "read" }, /`tool_subset` must be a list of texts/],
    [{ temperature: 3 }, /`temperature` must be a number from 0 to 2/],
    [{ temperature: "hot" }, /`temperature` must be a number/],
    [{ max_tokens: 0.5 }, /`max_tokens` must be a whole number of 1 or more/],
    [{ think: "yes" }, /`think` must be true or false/],
    [{ approve: "always" }, /`approve` must be one of ask, auto, deny/],
    [{ output_mode: "xml" }, /`output_mode` must be one of json_schema, json_object/],
    [{ output_mode: "json_schema" }, /`output_schema` is missing/],
    [{ limits: { tokens: -1 } }, /`limits.tokens` must be a number of 0 or more/],
    [{ grant: "all" }, /`grant` must be a list of layers/],
    [{ run: { id: "x" } }, /`run` must have/],
  ];
  for (const [changes, message] of WRONG) {
    it(`is refused with ${JSON.stringify(changes)}`, () => {
      assert.throws(() => parsePayload({ ...TEN, ...changes }), {
        code: "invalid_request",
        message,
      });
    });
  }

  it("shows no key that was written where its variable's name belongs", () => {
    const key = "sk-live-0123456789";
    assert.throws(
      () => parsePayload({ ...TEN, api_key_name: key }),
      (thrown: Error) => {
        assert.match(thrown.message, /must be the name of an environment variable/);
        return !thrown.message.includes(key);
      },
    );
  });
});

describe("the payload on standard input", () => {
  it("is everything up to the end of the input, over any number of lines", async () => {
    const input = new PassThrough();
    input.write('{\n "model": "m",\n');
    input.end(' "prompt": "ü" }\n');
    const { document, parentGone } = await readPayload(input);
    assert.deepEqual([document, parentGone], [{ model: "m", prompt: "ü" }, undefined]);
  });

  it("is the first line if a parent keeps the input open, whose end is the parent's", async () => {
    const input = new PassThrough();
    input.write('{"model":"m","life');
    input.write('line":true}\n');
    const { document, parentGone, close } = await readPayload(input);
    assert.equal(document["model"], "m");
    assert.equal(parentGone?.aborted, false);
    input.end();
    await new Promise((resolve) => parentGone?.addEventListener("abort", resolve));
    close();
  });

  it("is followed by lines that its parent writes later, however they are split", async () => {
    const input = new PassThrough();
    input.write('{"model":"m","lifeline":true}\n');
    const { onLine, close } = await readPayload(input);
    const lines: string[] = [];
    const told = new Promise<void>((resolve) => {
      onLine((line) => {
        lines.push(line);
        if (lines.length === 2) resolve();
      });
    });
    input.write('{"a":1}\n{"b"');
    input.write(":2}\n");
    await told;
    assert.deepEqual(lines, ['{"a":1}', '{"b":2}']);
    close();
  });

  it("is followed by lines that came before a listener was added, in the same piece too", async () => {
    const input = new PassThrough();
    input.write('{"model":"m","lifeline":true}\n{"a":1}\n{"b"');
    const { onLine, close } = await readPayload(input);
    input.write(":2}\n");
    await new Promise((resolve) => setImmediate(resolve));
    for (const _ of ["one", "another"]) {
      const lines: string[] = [];
      onLine((line) => lines.push(line));
      assert.deepEqual(lines, ['{"a":1}', '{"b":2}']);
    }
    close();
  });

  const WRONG: readonly [name: string, text: string, message: RegExp][] = [
    ["nothing", " \n", /Standard input is empty/],
    ["no JSON", "prompt: hi", /The payload is not JSON/],
    ["no object", "[1]", /must be a JSON object/],
    ["too much", `"${"x".repeat(MAX_PAYLOAD_BYTES)}"`, /larger than 10 MB/],
  ];
  for (const [name, text, message] of WRONG) {
    it(`is refused when it is ${name}`, async () => {
      const input = new PassThrough();
      input.end(text);
      await assert.rejects(readPayload(input), { code: "invalid_request", message });
    });
  }
});

describe("the watch over a parent", () => {
  function watch(parentId: () => number) {
    const clock = createManualClock();
    const line = new AbortController();
    const seen = { gone: 0 };
    const stop = watchParent({
      parentGone: line.signal,
      clock,
      parentId,
      onGone: () => {
        seen.gone++;
      },
    });
    return { clock, line, seen, stop };
  }

  it("reports once that the life line was closed", () => {
    const { line, seen, stop } = watch(() => 7);
    assert.equal(seen.gone, 0);
    line.abort();
    assert.equal(seen.gone, 1);
    stop();
  });

  it("reports that another process has become the parent", async () => {
    let id = 7;
    const { clock, seen, line } = watch(() => id);
    await clock.advance(1000);
    assert.equal(seen.gone, 0);
    id = 1;
    await clock.advance(1000);
    assert.equal(seen.gone, 1);
    line.abort();
    assert.equal(seen.gone, 1);
  });

  it("reports nothing after it was ended", async () => {
    const { line, seen, stop } = watch(() => 7);
    stop();
    line.abort();
    assert.equal(seen.gone, 0);
  });
});
