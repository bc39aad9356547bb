/** The provider with the real package and a real file, if the package is installed. */

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createGgufLibrary } from "../../../src/providers/gguf/library.ts";
import { loadLlamaModule } from "../../../src/providers/gguf/llama-module.ts";
import { createGgufProvider } from "../../../src/providers/gguf/provider.ts";
import { unless } from "../../needs.ts";
import { eventsOf, request, textOf } from "../provider-contract.ts";
import { endOf } from "../streams.ts";
import { createTinyGguf } from "./tiny-gguf.ts";

const llama = await loadLlamaModule().catch(() => undefined);

const able = unless(llama ? undefined : "node-llama-cpp is not installed");

describe(...able("a tiny GGUF model"), () => {
  const library = createGgufLibrary({ contextTokens: 512 });
  after(() => library.close());

  it("loads, streams, counts, and obeys a schema", async () => {
    const folder = await mkdtemp(join(tmpdir(), "offshoot-gguf-"));
    try {
      const path = join(folder, "tiny.gguf");
      await writeFile(path, createTinyGguf());
      const provider = createGgufProvider({ path, library });
      const schema = {
        type: "object",
        properties: { ok: { type: "boolean" }, level: { enum: ["low", "high"] } },
        required: ["ok", "level"],
        additionalProperties: false,
      };
      const format = { type: "json_schema", name: "out", schema, strict: true } as const;
      const events = await eventsOf(provider, request({ format, max_output_tokens: 100 }));
      const answer = JSON.parse(textOf(events));
      assert.deepEqual(Object.keys(answer), ["ok", "level"]);
      assert.ok(typeof answer.ok === "boolean" && ["low", "high"].includes(answer.level));
      const { usage, reason } = endOf(events);
      assert.equal(reason, "stop");
      assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0);
      const cut = endOf(await eventsOf(provider, request({ max_output_tokens: 3 })));
      assert.equal(cut.reason, "length");
      assert.equal(cut.usage.output_tokens, 3);
      const long = "word ".repeat(200);
      const items = [{ type: "message" as const, role: "user" as const, content: long }];
      await assert.rejects(eventsOf(provider, request({ items })), { code: "context_exceeded" });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
