/**
 * A user changes only `-m`: the same three prompts, through the built command and the real tools, over
 * every vendor API. Inside each server the embedded model answers, so that all must agree.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  startBedrockUpstream,
  startChatUpstream,
  startCohereUpstream,
  startGeminiUpstream,
  startLlamacppUpstream,
  startMessagesUpstream,
  startOllamaUpstream,
  startResponsesUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { createPlace } from "./command.ts";

const KEY = "test-key-0123456789";
const AWS = {
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "secret-of-the-test",
  AWS_REGION: "us-east-1",
};
const CALLERS = [
  { accessKeyId: AWS.AWS_ACCESS_KEY_ID, secretAccessKey: AWS.AWS_SECRET_ACCESS_KEY },
];

interface Row {
  readonly model: string;
  readonly start: () => Promise<Upstream>;
  readonly env: (upstream: Upstream) => Record<string, string>;
  readonly flags?: (upstream: Upstream) => readonly string[];
}

const ROWS: readonly Row[] = [
  {
    model: "openai/gpt-5.1",
    start: () => startResponsesUpstream({ key: KEY }),
    env: ({ url }) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url }),
  },
  {
    model: "groq/test-model",
    start: () => startChatUpstream({ key: KEY }),
    env: () => ({ GROQ_API_KEY: KEY }),
    flags: ({ url }) => ["--url", url, "--api-key-name", "GROQ_API_KEY"],
  },
  {
    model: "anthropic/claude-sonnet-4-5",
    start: () => startMessagesUpstream({ key: KEY }),
    env: ({ url }) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url }),
  },
  {
    model: "gemini/gemini-3.8-flash",
    start: () => startGeminiUpstream({ key: KEY }),
    env: ({ url }) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url }),
  },
  {
    model: "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    start: () => startBedrockUpstream({ callers: CALLERS }),
    env: ({ url }) => ({ ...AWS, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url }),
  },
  {
    model: "cohere/command-a-plus-05-2026",
    start: () => startCohereUpstream({ key: KEY }),
    env: ({ url }) => ({ CO_API_KEY: KEY, CO_API_URL: url }),
  },
  {
    model: "ollama/test-model",
    start: startOllamaUpstream,
    env: ({ url }) => ({ OLLAMA_HOST: url }),
  },
  {
    model: "llamacpp/test-model",
    start: startLlamacppUpstream,
    env: () => ({}),
    flags: ({ url }) => ["--url", url],
  },
];

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, population: { type: "integer" } },
  required: ["city", "population"],
  additionalProperties: false,
};
const FILES = {
  "notes.txt": "one\ntwo\nthree\n",
  "src/a.ts": "// TODO: mend\nexport {};\n",
  "src/b.ts": "export {};\n",
  "city.json": JSON.stringify(SCHEMA),
};

describe("every provider", { concurrency: 3 }, () => {
  for (const { model, start, env, flags } of ROWS) {
    const open = async (...words: readonly string[]) => {
      const place = await createPlace(FILES);
      const upstream = await start();
      const more = flags?.(upstream) ?? [];
      const ended = await place.run(["run", "-q", "-m", model, ...more, ...words], {
        env: env(upstream),
      });
      await upstream.close();
      await place[Symbol.asyncDispose]();
      return ended;
    };

    it(`${model} uses the tools`, async () => {
      const { code, stdout, stderr } = await open("find TODO in src");
      assert.deepEqual([stderr, code], ["", 0]);
      assert.match(stdout, /src\/a\.ts/);
      assert.match(stdout, /TODO: mend/);
    });

    it(`${model} fills a schema`, async () => {
      const { code, stdout, stderr } = await open(
        "--schema",
        "city.json",
        "city: Oslo, population: 717710",
      );
      assert.deepEqual([stderr, code], ["", 0]);
      assert.deepEqual(JSON.parse(stdout), { city: "Oslo", population: 717710 });
    });

    it(`${model} thinks, calls and answers`, async () => {
      const { code, stdout } = await open("--think", "read notes.txt");
      assert.equal(code, 0);
      assert.match(stdout, /one\ntwo\nthree/);
    });
  }
});
