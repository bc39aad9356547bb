import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type AwsSignOptions, createAwsSign } from "../../../src/providers/bedrock/aws-auth.ts";
import { bedrockBaseUrl, findAwsRegion } from "../../../src/providers/bedrock/aws-region.ts";
import type { RequestBody } from "../../../src/providers/http/request-body.ts";
import { checkSignature } from "../../../src/testing/bedrock/signature.ts";
import type { RecordedRequest } from "../../../src/testing/loopback.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";

const KEYS = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret/of+example" };
const CALLER = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret/of+example" };
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const URL_IN_US = bedrockBaseUrl({ AWS_REGION: "us-east-1" });
const PATH = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream";

const signed = async (
  env: Record<string, string>,
  options: AwsSignOptions = {},
  { url = URL_IN_US + PATH, body = '{"text":"Grüße"}' }: { url?: string; body?: RequestBody } = {},
): Promise<Record<string, string>> => {
  const sign = createAwsSign(env, { clock: createManualClock(NOW), ...options });
  const headers = { "content-type": "application/json", accept: "x" };
  const { signal } = new AbortController();
  return await sign({ method: "POST", url, headers, body, signal });
};

/** A server's verdict on the request. */
const verdict = (headers: Record<string, string>, more: Partial<RecordedRequest> = {}) => {
  const request: RecordedRequest = {
    method: "POST",
    path: PATH,
    headers: {
      host: "bedrock-runtime.us-east-1.amazonaws.com",
      "content-type": "application/json",
      ...headers,
    },
    body: {},
    text: '{"text":"Grüße"}',
    aborted: false,
    ended: Promise.resolve(),
    ...more,
  };
  return checkSignature(request, { callers: [CALLER], region: "us-east-1", now: NOW })?.type;
};

describe("a signature of AWS", () => {
  it("equals the one that a server computes", async () => {
    assert.equal(verdict(await signed(KEYS)), undefined);
  });

  it("is the same for a body in pieces, as large ones are sent", async () => {
    const body = ['{"text":"Gr', 'üße"}'].map((piece) => Buffer.from(piece));
    assert.deepEqual(await signed(KEYS, {}, { body }), await signed(KEYS));
  });

  it("is wrong for another body, path, secret, region or time", async () => {
    const right = await signed(KEYS);
    assert.equal(verdict(right, { text: "{}" }), "InvalidSignatureException");
    assert.equal(verdict(right, { path: "/model/x/converse" }), "InvalidSignatureException");
    const wrong = await signed({ ...KEYS, AWS_SECRET_ACCESS_KEY: "other" });
    assert.equal(verdict(wrong), "InvalidSignatureException");
    const elsewhere = await signed(KEYS, { region: "eu-west-1" });
    assert.equal(verdict(elsewhere), "InvalidSignatureException");
    const late = await signed(KEYS, { clock: createManualClock(NOW - 3_600_000) });
    assert.equal(verdict(late), "InvalidSignatureException");
    const unknown = await signed({ ...KEYS, AWS_ACCESS_KEY_ID: "AKIDOTHER" });
    assert.equal(verdict(unknown), "UnrecognizedClientException");
  });

  it("signs nothing that a proxy may change", async () => {
    const { authorization = "" } = await signed(KEYS);
    assert.match(authorization, /SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date,/);
  });

  it("carries the token of a session", async () => {
    const headers = await signed({ ...KEYS, AWS_SESSION_TOKEN: "session" });
    assert.equal(headers["x-amz-security-token"], "session");
    assert.match(headers["authorization"] ?? "", /x-amz-security-token/);
  });

  it("is not used if there is a Bedrock key", async () => {
    const headers = await signed({ ...KEYS, AWS_BEARER_TOKEN_BEDROCK: " bedrock-key " });
    assert.deepEqual(headers, { authorization: "Bearer bedrock-key" });
  });
});

describe("the credentials", () => {
  const lasting = (ms: number, count: { fetches: number }) => async () => {
    count.fetches++;
    return { ...CALLER, expiration: new Date(NOW + ms) };
  };

  it("are fetched once for many requests, and again before they expire", async () => {
    const clock = createManualClock(NOW);
    const count = { fetches: 0 };
    const sign = createAwsSign({}, { clock, credentials: lasting(3_600_000, count) });
    const ask = () =>
      sign({
        method: "POST",
        url: URL_IN_US,
        headers: {},
        body: "",
        signal: new AbortController().signal,
      });
    await Promise.all([ask(), ask(), ask()]);
    assert.equal(count.fetches, 1);
    await clock.advance(54 * 60_000);
    await ask();
    assert.equal(count.fetches, 1);
    await clock.advance(2 * 60_000);
    await Promise.all([ask(), ask()]);
    assert.equal(count.fetches, 2);
  });

  it("are fetched again after a failure", async () => {
    let attempts = 0;
    const credentials = async () => {
      if (attempts++ === 0) throw new Error("not yet");
      return CALLER;
    };
    const sign = createAwsSign({}, { credentials });
    const { signal } = new AbortController();
    const asked = { method: "POST", url: URL_IN_US, headers: {}, body: "" } as const;
    await assert.rejects(sign({ ...asked, signal }), /not yet/);
    assert.ok((await sign({ ...asked, signal }))["authorization"]);
  });

  it("are not waited for when the run is cancelled", async () => {
    const abort = new AbortController();
    const sign = createAwsSign({}, { credentials: () => new Promise(() => {}) });
    const asked = { method: "POST", url: URL_IN_US, headers: {}, body: "" } as const;
    const waiting = sign({ ...asked, signal: abort.signal });
    abort.abort();
    await assert.rejects(waiting, { code: "cancelled" });
  });
});

describe("the region", () => {
  const local = { url: "http://127.0.0.1:1/model/m/converse-stream" };

  it("is the address's own, unless the user set one", async () => {
    const { authorization = "" } = await signed({ ...KEYS, AWS_REGION: "eu-west-1" });
    assert.match(authorization, /\/us-east-1\/bedrock\//);
    const set = await signed(KEYS, { region: "us-gov-west-1" });
    assert.match(set["authorization"] ?? "", /\/us-gov-west-1\//);
    const env = await signed({ ...KEYS, AWS_DEFAULT_REGION: "eu-west-1" }, {}, local);
    assert.match(env["authorization"] ?? "", /\/eu-west-1\//);
  });

  it("is asked for when it is missing or wrong", async () => {
    const missing = { ...KEYS, AWS_CONFIG_FILE: "/no/such/file" };
    await assert.rejects(signed(missing, {}, local), {
      code: "invalid_request",
      message: /set `AWS_REGION`/,
    });
    await assert.rejects(signed({ ...KEYS, AWS_REGION: "Frankfurt!" }, {}, local), {
      code: "invalid_request",
      message: /`Frankfurt!` is not an AWS region/,
    });
  });

  it("is found in the profile of the config file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "aws-region-"));
    const AWS_CONFIG_FILE = join(folder, "config");
    const profiles =
      "[default]\nregion = eu-north-1\n\n[profile work]\noutput=json\nregion=ap-south-1\n";
    await writeFile(AWS_CONFIG_FILE, profiles);
    assert.equal(findAwsRegion({ AWS_CONFIG_FILE }), "eu-north-1");
    assert.equal(findAwsRegion({ AWS_CONFIG_FILE, AWS_PROFILE: "work" }), "ap-south-1");
    assert.equal(findAwsRegion({ AWS_CONFIG_FILE }, { profile: "none" }), undefined);
    assert.equal(findAwsRegion({ AWS_CONFIG_FILE, AWS_REGION: "us-east-1" }), "us-east-1");
    await rm(folder, { recursive: true });
  });

  it("the region is part of the address", () => {
    assert.equal(URL_IN_US, "https://bedrock-runtime.us-east-1.amazonaws.com");
    assert.equal(
      bedrockBaseUrl({ AWS_REGION: "cn-north-1" }),
      "https://bedrock-runtime.cn-north-1.amazonaws.com.cn",
    );
    assert.throws(() => bedrockBaseUrl({ AWS_CONFIG_FILE: "/no/such/file" }), /AWS_REGION/);
  });
});
