/** Vendors without credentials: one line with the sources that were tried, exit code 2, nothing sent. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createPlace } from "./command.ts";

const OFFLINE = { AWS_EC2_METADATA_DISABLED: "true", GCE_METADATA_HOST: "127.0.0.1:9" };

const ROWS: readonly (readonly [
  what: string,
  model: string,
  env: Record<string, string>,
  line: RegExp,
])[] = [
  [
    "Anthropic without a key",
    "anthropic/claude-sonnet-5-5",
    {},
    /needs a key in `ANTHROPIC_API_KEY`/,
  ],
  ["Gemini without a key", "gemini/gemini-2.5-pro", {}, /`GEMINI_API_KEY` or `GOOGLE_API_KEY`/],
  ["Vertex without a project", "vertexai/claude-opus-5", {}, /Looked at `GOOGLE_CLOUD_PROJECT`/],
  [
    "Vertex without credentials",
    "vertexai/claude-opus-5",
    { GOOGLE_CLOUD_PROJECT: "p" },
    /`GOOGLE_APPLICATION_CREDENTIALS` is not set, .*no metadata server answers/,
  ],
  [
    "Vertex with an invalid file",
    "vertex/gemini-2.5-pro",
    { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_APPLICATION_CREDENTIALS: "/no/such/file" },
    /\/no\/such\/file/,
  ],
  [
    "Bedrock without a region",
    "bedrock/anthropic.claude-x",
    {},
    /needs a region: set `AWS_REGION`/,
  ],
  [
    "Bedrock with no region that is",
    "bedrock/x",
    { AWS_REGION: "mars one" },
    /`mars one` is not an AWS region/,
  ],
  [
    "Bedrock without credentials",
    "bedrock/anthropic.claude-x",
    { AWS_REGION: "us-east-1" },
    /No AWS credentials\. Looked at `AWS_BEARER_TOKEN_BEDROCK`/,
  ],
  ["a GGUF file that is not there", "gguf:/no/such.gguf", {}, /no\/such\.gguf/],
  ["no file at all", "gguf:", {}, /names no file/],
];

describe("credentials", { concurrency: 4 }, () => {
  for (const [what, model, env, line] of ROWS) {
    it(`are reported as missing in one line: ${what}`, async () => {
      await using place = await createPlace();
      const ended = await place.run(["run", "-q", "-m", model, "Hi"], {
        env: { ...OFFLINE, ...env },
      });
      assert.match(ended.stderr, /^offshoot: [^\n]*\n$/);
      assert.match(ended.stderr, line);
      assert.deepEqual([ended.code, ended.stdout], [2, ""]);
    });
  }
});

describe("the bundle", () => {
  it("is written in syntax that this runtime supports, all of it", () => {
    const folder = fileURLToPath(new URL("../../../dist/bin/", import.meta.url));
    const files = readdirSync(folder).filter((name) => name.endsWith(".js"));
    assert.ok(files.length > 15, `only ${files.length} files`);
    for (const file of files) execFileSync(process.execPath, ["--check", folder + file]);
  });
});
