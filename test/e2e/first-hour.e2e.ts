/** The commands of docs/first-hour.md, in their order, with a stand-in for the model's server. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { reply, respond, startResponsesUpstream } from "../../src/testing/index.ts";
import { createPlace } from "./command.ts";
import { runShell } from "./shell.ts";

const PAGE = fileURLToPath(new URL("../../../docs/first-hour.md", import.meta.url));
const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

/** The files of the page's reader: a project with notes, a schema and a change. */
const FILES = {
  "README.md": "# Garden\n\nGrows things.\n",
  "notes.md": "Water the beans.\n",
  "city.json": JSON.stringify({ ...SCHEMA, additionalProperties: false }),
};

/** The lines of the blocks that a reader types unchanged. */
async function readLines(): Promise<string[]> {
  const page = await readFile(PAGE, "utf8");
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, text = ""]) => text.trim().split("\n"));
}

describe("docs/first-hour.md", () => {
  it("has commands that all work, in their order", async () => {
    const engine = respond((request) =>
      JSON.stringify(request).includes("Eiffel")
        ? reply.text('{"city":"Paris"}')
        : reply.text("Hello there, friend of gardens."),
    );
    await using place = await createPlace(FILES);
    const upstream = await startResponsesUpstream({ engine });
    try {
      const env = { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: upstream.url };
      const lines = await readLines();
      assert.ok(lines.length >= 15, "the page has its commands");
      for (const line of lines) {
        const [id = ""] = await place.runIds();
        const typed = line.replace(/\bID\b/, id.split("/")[0] ?? "");
        const { code, stdout, stderr } = await runShell(typed, place, env);
        assert.equal(code, 0, `${typed}\n${stderr}`);
        assert.notEqual(stdout, "", typed);
      }
      assert.ok(upstream.requests.length >= 6);
    } finally {
      await upstream.close();
    }
  });
});
