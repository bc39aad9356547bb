import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPlace } from "./command.ts";

describe("`mcp add` of a program that is not an MCP server and ends at once", () => {
  const rows = [
    ["true", [], /ended with exit code 0/],
    ["ls", [], /ended with exit code 0/],
    ["sh", ["-c", "echo goodbye >&2; exit 3"], /ended with exit code 3\. Its last output: goodbye/],
  ] as const;
  for (const [program, words, said] of rows) {
    it(`reports how it ended, and adds nothing: ${[program, ...words].join(" ")}`, async () => {
      await using place = await createPlace();
      const added = await place.run(["mcp", "add", "crash", "--", program, ...words]);
      assert.equal(added.code, 1, added.stderr);
      assert.match(added.stderr, said);
      assert.match(added.stderr, /`crash` was not added/);
      const { stderr } = await place.run(["mcp", "list"]);
      assert.match(stderr, /No MCP servers yet/);
    });
  }
});
