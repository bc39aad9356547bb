/** Large requests of several owners to one model: owners take turns to write them, in any of their runs. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { createAwsSign } from "../../../src/providers/bedrock/aws-auth.ts";
import { chatWire } from "../../../src/providers/chat/wire.ts";
import { createHttpProvider } from "../../../src/providers/http/http-provider.ts";
import { patience } from "../../patience.ts";
import { request } from "../provider-contract.ts";

const LARGE = request({
  items: [{ type: "message", role: "user", content: "Grüße ".repeat(500_000) }],
});

const KEYS = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "s", AWS_REGION: "us-east-1" };

const WAYS = {
  "with a key": undefined,
  "with a signature of the body": createAwsSign(KEYS),
} as const;

describe("a large request to a model", () => {
  for (const [way, sign] of Object.entries(WAYS)) {
    it(`is sent in its owner's turn, before older ones of another (${way})`, async () => {
      const provider = createHttpProvider({
        vendor: "test",
        wire: chatWire,
        baseUrl: "http://127.0.0.1:9",
        headers: {},
        quirks: {},
        ...(sign ? { sign } : {}),
        transport: {
          send: () => Promise.reject(new Failure("provider_rejected", "Not sent.")),
          async close() {},
        },
      });
      const left: string[] = [];
      const ask = async (owner: string, run: string): Promise<void> => {
        const call = { signal: patience(), owner, run, onSend: () => void left.push(owner) };
        await assert.rejects(async () => {
          for await (const _ of provider.stream(LARGE, call));
        });
      };
      const many = Array.from({ length: 8 }, (_, at) => ask("many", `run_${at}`));
      await ask("one", "run_one");
      assert.deepEqual(left, ["one"]);
      await Promise.all(many);
    });
  }
});
