/**
 * Every source of AWS credentials, through AWS's own code, which reads the environment of the process: so
 * this file runs in a process of its own, and sets it.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createAwsSign } from "../../src/providers/bedrock/aws-auth.ts";
import { bedrockBaseUrl } from "../../src/providers/bedrock/aws-region.ts";
import { patience } from "../patience.ts";

const LIFE_MS = 3_600_000;
const expiration = new Date(Date.now() + LIFE_MS).toISOString();
let home = "";
let origin = "";

/** The services that give credentials, all at one address. */
const server = createServer((request, response) => {
  const [type, body] = answer(request);
  response.writeHead(body === "" ? 404 : 200, { "content-type": type }).end(body);
});

function answer({ url = "", method }: IncomingMessage): [type: string, body: string] {
  const json = (value: object): [string, string] => ["application/json", JSON.stringify(value)];
  const keys = (from: string) => ({
    Code: "Success",
    AccessKeyId: `AKID${from}`,
    SecretAccessKey: "secret",
    Token: `token-${from}`,
    Expiration: expiration,
  });
  if (url === "/container") return json(keys("CONTAINER"));
  if (url === "/latest/api/token" && method === "PUT") return ["text/plain", "imds-token"];
  if (url === "/latest/meta-data/iam/security-credentials/") return ["text/plain", "role"];
  if (url === "/latest/meta-data/iam/security-credentials/role") return json(keys("INSTANCE"));
  if (url.startsWith("/federation/credentials")) {
    const roleCredentials = {
      accessKeyId: "AKIDSSO",
      secretAccessKey: "secret",
      sessionToken: "token-SSO",
      expiration: Date.now() + LIFE_MS,
    };
    return json({ roleCredentials });
  }
  return method === "POST" ? ["text/xml", stsAnswer()] : ["text/plain", ""];
}

function stsAnswer(): string {
  return `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AKIDWEB</AccessKeyId>
<SecretAccessKey>secret</SecretAccessKey><SessionToken>token-WEB</SessionToken>
<Expiration>${expiration}</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></AssumeRoleWithWebIdentityResponse>`;
}

before(async () => {
  home = await mkdtemp(join(tmpdir(), "aws-home-"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await mkdir(join(home, ".aws", "sso", "cache"), { recursive: true });
});

after(async () => {
  server.closeAllConnections();
  server.close();
  await rm(home, { recursive: true });
});

/** The signed headers of a request, with only the given variables of AWS in the environment. */
async function signWith(variables: Record<string, string>): Promise<Record<string, string>> {
  for (const name of Object.keys(process.env))
    if (name.startsWith("AWS_")) delete process.env[name];
  Object.assign(process.env, { HOME: home, AWS_EC2_METADATA_DISABLED: "true", ...variables });
  const sign = createAwsSign(process.env);
  return await sign({
    method: "POST",
    url: bedrockBaseUrl({ AWS_REGION: "us-east-1" }),
    headers: {},
    body: "{}",
    signal: patience(),
  });
}

const writeProfile = async (name: string, lines: readonly string[]): Promise<string> => {
  const path = join(home, name);
  await writeFile(path, `${lines.join("\n")}\n`);
  return path;
};

interface Place {
  readonly name: string;
  readonly keyId: string;
  readonly variables: () => Promise<Record<string, string>>;
}

const PLACES: readonly Place[] = [
  {
    name: "the environment",
    keyId: "AKIDENV",
    variables: async () => ({ AWS_ACCESS_KEY_ID: "AKIDENV", AWS_SECRET_ACCESS_KEY: "secret" }),
  },
  {
    name: "a profile, which wins over the environment",
    keyId: "AKIDPROFILE",
    variables: async () => ({
      AWS_ACCESS_KEY_ID: "AKIDENV",
      AWS_SECRET_ACCESS_KEY: "secret",
      AWS_PROFILE: "work",
      AWS_SHARED_CREDENTIALS_FILE: await writeProfile("credentials", [
        "[work]",
        "aws_access_key_id = AKIDPROFILE",
        "aws_secret_access_key = secret",
      ]),
    }),
  },
  {
    name: "a process",
    keyId: "AKIDPROCESS",
    variables: async () => {
      const keys = { Version: 1, AccessKeyId: "AKIDPROCESS", SecretAccessKey: "secret" };
      const script = await writeProfile("print.cjs", [
        `console.log(${JSON.stringify(JSON.stringify(keys))})`,
      ]);
      const line = `credential_process = "${process.execPath}" "${script}"`;
      return { AWS_CONFIG_FILE: await writeProfile("process-config", ["[default]", line]) };
    },
  },
  {
    name: "a web identity",
    keyId: "AKIDWEB",
    variables: async () => ({
      AWS_REGION: "us-east-1",
      AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/test",
      AWS_WEB_IDENTITY_TOKEN_FILE: await writeProfile("token", ["jwt"]),
      AWS_ENDPOINT_URL_STS: origin,
    }),
  },
  {
    name: "a session of SSO",
    keyId: "AKIDSSO",
    variables: async () => {
      const startUrl = "https://example.awsapps.com/start";
      const name = `${createHash("sha1").update(startUrl).digest("hex")}.json`;
      const token = { accessToken: "sso", expiresAt: expiration, region: "us-east-1", startUrl };
      await writeFile(join(home, ".aws", "sso", "cache", name), JSON.stringify(token));
      return {
        AWS_ENDPOINT_URL_SSO: origin,
        AWS_CONFIG_FILE: await writeProfile("sso-config", [
          "[default]",
          `sso_start_url = ${startUrl}`,
          "sso_region = us-east-1",
          "sso_account_id = 123456789012",
          "sso_role_name = test",
        ]),
      };
    },
  },
  {
    name: "a container",
    keyId: "AKIDCONTAINER",
    variables: async () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/container` }),
  },
  {
    name: "an instance",
    keyId: "AKIDINSTANCE",
    variables: async () => ({
      AWS_EC2_METADATA_DISABLED: "false",
      AWS_EC2_METADATA_SERVICE_ENDPOINT: origin,
    }),
  },
];

describe("AWS credentials", () => {
  for (const { name, keyId, variables } of PLACES) {
    it(`are found in ${name}`, async () => {
      const { authorization = "" } = await signWith(await variables());
      assert.match(authorization, new RegExp(`Credential=${keyId}/`));
    });
  }

  it("that are nowhere are reported with every source that was tried", async () => {
    await assert.rejects(signWith({}), (thrown: Error & { code?: string }) => {
      assert.equal(thrown.code, "key_missing");
      for (const place of [
        "AWS_BEARER_TOKEN_BEDROCK",
        "AWS_ACCESS_KEY_ID",
        "`default`",
        "instance",
      ]) {
        assert.ok(thrown.message.includes(place), `${place} is not in: ${thrown.message}`);
      }
      return true;
    });
  });
});
