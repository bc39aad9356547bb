/** The end of the SSE form after a tool has failed, through the built command. */

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { respond, startChatUpstream } from "../../src/testing/index.ts";
import { reply } from "../../src/testing/reply.ts";
import { createPlace, type Ended } from "./command.ts";

const OWN = `own_tools:
  broken:
    command: [sh, -c, "echo no luck >&2; exit 3"]
    description: Never works.
    parameters: { type: object, properties: { x: { type: integer } } }
`;

/** A run whose first turn makes this call; a second one would answer. */
async function run(call: { name: string; arguments: string }, ...flags: string[]): Promise<Ended> {
  const isSecond = (items: readonly { readonly type: string }[]): boolean =>
    items.some(({ type }) => type === "function_call_output");
  const engine = respond(({ items }) =>
    isSecond(items) ? reply.text("Done.") : reply.calls([call]),
  );
  const upstream = await startChatUpstream({ engine });
  try {
    await using place = await createPlace();
    const folder = join(place.home, ".config/offshoot");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "config.yaml"), OWN);
    const model = ["-m", "custom/test", "--provider", "openai-chat", "--url", upstream.url];
    const tools = ["--approve", "auto", "--tools", "broken,read"];
    return await place.run(["run", ...model, ...tools, ...flags, "go"]);
  } finally {
    await upstream.close();
  }
}

const BROKEN = { name: "broken", arguments: "{}" };

describe("offshoot run --sse", () => {
  it("ends with the error of a tool that failed", async () => {
    const { code, stdout } = await run(BROKEN, "--sse");
    assert.equal(code, 1);
    assert.match(
      stdout,
      /\n\nevent: block_end\ndata: \{"id":"","delta":"Error: .*exited with code 3: no luck/,
    );
    assert.ok(!stdout.includes("response_end"));
  });

  it("continues after a wrong call", async () => {
    for (const call of [
      { name: "nobody", arguments: "{}" },
      { name: "broken", arguments: '{"x":"y"}' },
      { name: "read", arguments: '{"path":"missing.txt"}' },
    ]) {
      const { code, stdout } = await run(call, "--sse");
      assert.equal(code, 0, stdout);
      assert.match(stdout, /"delta":"Done\."/);
    }
  });

  it("continues in every other form", async () => {
    const { code, stdout } = await run(BROKEN);
    assert.deepEqual([code, stdout], [0, "Done.\n"]);
  });
});
