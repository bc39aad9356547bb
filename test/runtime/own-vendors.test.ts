/** Vendors of the user's own, and Azure with an identity: from the settings to the request that is sent. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import { main } from "../../src/cli/main.ts";
import { findModel } from "../../src/providers/models/models.ts";
import { loadConfig } from "../../src/runtime/config/config.ts";
import { createRuntime, type RunRequest, type RuntimeOptions } from "../../src/runtime/runtime.ts";
import { toRuntimeOptions } from "../../src/runtime/settings.ts";
import { reply, respond, startMessagesUpstream } from "../../src/testing/index.ts";
import { createFakeIo } from "../cli/fake-io.ts";
import { SECRET, startTokenServer } from "../providers/azure/entra-fixture.ts";
import { createSandbox, put } from "./sandbox.ts";

async function ask(
  t: TestContext,
  options: RuntimeOptions,
  request: Partial<RunRequest> & Pick<RunRequest, "model">,
): Promise<{ text: string; usd: number | null }> {
  const runtime = await createRuntime(options);
  t.after(() => runtime.close());
  const run = await runtime.run({ input: "Hi", root: "/", ...request });
  const { ending, message, output_text: text, cost_usd: usd } = await run.result();
  assert.equal(ending, "completed", message);
  return { text, usd };
}

interface Sent {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

interface ChatServer {
  /** Without a path. */
  readonly origin: string;
  readonly requests: readonly Sent[];
}

/** A server that accepts every field, like vLLM, and refuses a key or a token that is not `isRight`. */
async function startChat(
  t: TestContext,
  text: string,
  isRight: (key: string) => boolean,
): Promise<ChatServer> {
  const requests: Sent[] = [];
  const choice = { index: 0, delta: { content: text }, finish_reason: "stop" };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const server = createServer(async (request, response) => {
    let said = "";
    for await (const piece of request) said += String(piece);
    const { url: path = "", headers } = request;
    requests.push({ path, headers, body: JSON.parse(said || "{}") as JsonObject });
    const key = headers.authorization?.replace(/^Bearer /, "") ?? "";
    if (!isRight(key)) {
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { code: "401", message: `Access denied: ${key}` } }));
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    const chunk = { id: "c1", model: "m", choices: [choice], usage };
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** The file of the docs, with servers of this machine replacing those that it names. */
function docsFile(urls: readonly [string, string, string]): string {
  const page = readFileSync("docs/providers.md", "utf8");
  const [, section = ""] = page.split("## Vendors of your own");
  const [, yaml = ""] = /```yaml\n([^`]+)```/.exec(section) ?? assert.fail("no example");
  const hosts = ["http://gpu-1:8000/v1", "http://gpu-2:8000/v1", "http://192.168.1.20:1234/v1"];
  return hosts.reduce((text, host, at) => {
    assert.ok(text.includes(host), host);
    return text.replace(host, urls[at] ?? "");
  }, yaml);
}

const KEYS = { GPU1_KEY: "key-of-gpu-1", GPU2_KEY: "key-of-gpu-2", TEAM_KEY: "key-of-team" };

async function startThree(t: TestContext) {
  const gpu1 = await startChat(t, "from gpu1", (key) => key === KEYS.GPU1_KEY);
  const gpu2 = await startChat(t, "from gpu2", (key) => key === KEYS.GPU2_KEY);
  const desk = await startChat(t, "from desk", (key) => key === "");
  const urls = [`${gpu1.origin}/v1`, `${gpu2.origin}/v1`, `${desk.origin}/v1`] as const;
  const sandbox = createSandbox(t);
  put(sandbox.userFile, `probe_local: false\n${docsFile(urls)}`);
  return { gpu1, gpu2, desk, sandbox: { ...sandbox, env: KEYS } };
}

describe("two vLLMs and an LM Studio in the settings", () => {
  it("are each asked at their own address, with their own key, headers and fields", async (t) => {
    const { gpu1, gpu2, desk, sandbox } = await startThree(t);
    const run = async (...words: string[]): Promise<string> => {
      const io = createFakeIo(sandbox);
      const code = await main(["run", "--no-store", "--tools", "none", ...words, "Hi"], io);
      assert.equal(code, 0, io.written.stderr);
      return io.written.stdout;
    };
    assert.equal(await run(), "from gpu1\n");
    assert.equal(await run("-m", "gpu1"), "from gpu1\n");
    assert.equal(await run("-m", "gpu2/llama-4-scout"), "from gpu2\n");
    assert.equal(await run("-m", "desk/gemma-3-12b"), "from desk\n");
    const [first] = gpu1.requests;
    assert.equal(first?.body["model"], "qwen3-8b");
    // The way to tell vLLM not to think.
    assert.ok(first?.body["chat_template_kwargs"]);
    const [second] = gpu2.requests;
    assert.deepEqual(
      [second?.headers["x-team"], second?.headers["x-team-key"], second?.body["top_k"]],
      ["research", "key-of-team", 20],
    );
    assert.equal(desk.requests[0]?.headers.authorization, undefined);
    const sent = JSON.stringify([gpu1, desk].map(({ requests }) => requests.map((r) => r.headers)));
    assert.ok(!sent.includes(KEYS.GPU2_KEY) && !sent.includes(KEYS.TEAM_KEY));
  });

  it("are listed by `models` and checked by `doctor`, which show no key", async (t) => {
    const { sandbox } = await startThree(t);
    const io = createFakeIo(sandbox);
    assert.equal(await main(["models", "--json"], io), 0);
    const rows = JSON.parse(io.written.stdout) as { model: string; input_usd: number }[];
    const row = rows.find(({ model }) => model === "gpu1/qwen3-8b") ?? assert.fail();
    assert.equal(row.input_usd, 0.1);
    const doctor = createFakeIo({ ...sandbox, env: { GPU1_KEY: KEYS.GPU1_KEY } });
    assert.equal(await main(["doctor"], doctor), 0);
    assert.match(doctor.written.stdout, /^ok +vendor gpu1 +http/m);
    assert.match(doctor.written.stdout, /^gap +vendor gpu2 +`GPU2_KEY` is not set/m);
    assert.match(doctor.written.stdout, /^ok +model +gpu1\/qwen3-8b /m);
    assert.ok(!doctor.written.stdout.includes(KEYS.GPU1_KEY));
  });

  it("are not asked if the key's variable is not set", async (t) => {
    const { gpu1, sandbox } = await startThree(t);
    const io = createFakeIo({ ...sandbox, env: { OPENAI_API_KEY: "sk-other" } });
    assert.equal(await main(["run", "--no-store", "Hi"], io), 2);
    assert.match(io.written.stderr, /`gpu1` needs a key in `GPU1_KEY`, which is not set\./);
    assert.equal(gpu1.requests.length, 0);
  });

  it("cost what the settings say, and otherwise an unknown amount", async (t) => {
    const { sandbox } = await startThree(t);
    const config = await loadConfig(sandbox);
    const options = { ...toRuntimeOptions(config, createFakeIo(sandbox)), storePath: undefined };
    assert.ok(Number((await ask(t, options, { model: "gpu1/qwen3-8b" })).usd) > 0);
    assert.equal((await ask(t, options, { model: "desk/any" })).usd, null);
  });
});

describe("a vendor of the settings", () => {
  it("may speak any wire, with the header of its key", async (t) => {
    const claude = await startMessagesUpstream({
      engine: respond(() => reply.text("from claude")),
      key: "key-of-claude",
    });
    t.after(() => claude.close());
    const vendors = { corp: { provider: "anthropic", url: claude.url, api_key_name: "CORP_KEY" } };
    const env = { CORP_KEY: "key-of-claude" };
    const { text } = await ask(t, { env, vendors }, { model: "corp/claude-sonnet-4-5" });
    assert.equal(text, "from claude");
  });

  it("is checked when a program passes it", async () => {
    const vendors = { gpu1: { api_key_name: "KEY" } };
    await assert.rejects(createRuntime({ env: {}, vendors }), /`gpu1` needs `url`/);
  });

  it("moves to another address only by a flag, with the model beside it", async (t) => {
    const { sandbox } = await startThree(t);
    const io = createFakeIo(sandbox);
    assert.equal(await main(["run", "--url", "http://127.0.0.1:9/v1", "Hi"], io), 2);
    assert.match(io.written.stderr, /`--url` would get the key of `gpu1`\./);
  });
});

describe("a vendor of ours whose requests need a field", () => {
  it("is sent it, and the user's fields override it", async (t) => {
    const server = await startChat(t, "from minimax", () => true);
    const request = { model: "minimax/MiniMax-M3", url: `${server.origin}/v1` };
    await ask(t, { env: {} }, request);
    await ask(t, { env: {}, options: { reasoning_split: false } }, request);
    assert.deepEqual(
      server.requests.map(({ body }) => body["reasoning_split"]),
      [true, false],
    );
  });
});

describe("Anthropic's platform on AWS", () => {
  const env = { ANTHROPIC_AWS_API_KEY: "key-of-aws", ANTHROPIC_AWS_WORKSPACE_ID: "wrkspc_1" };

  it("is asked with Anthropic's wire, with the workspace and the key as a bearer token", async (t) => {
    const engine = respond(() => reply.text("from AWS"));
    await using server = await startMessagesUpstream({ engine });
    const model = "claudeaws/claude-sonnet-4-6";
    const moved = { ...env, ANTHROPIC_AWS_BASE_URL: server.url };
    const { text, usd } = await ask(t, { env: moved }, { model });
    assert.deepEqual([text, usd], ["from AWS", null]);
    const [{ headers, path } = assert.fail()] = server.requests;
    assert.deepEqual(
      [path, headers.authorization, headers["anthropic-workspace-id"], headers["x-api-key"]],
      ["/v1/messages", "Bearer key-of-aws", "wrkspc_1", undefined],
    );
  });

  it("is not asked without a workspace", async () => {
    const { ANTHROPIC_AWS_WORKSPACE_ID: _, ...rest } = env;
    const runtime = await createRuntime({ env: { ...rest, AWS_REGION: "us-west-2" } });
    const asked = runtime.run({ model: "claudeaws/claude-x", input: "Hi", root: "/" });
    await assert.rejects(asked, /needs the variable `ANTHROPIC_AWS_WORKSPACE_ID`/);
    await runtime.close();
  });

  it("has models that can do what Anthropic's own can", () => {
    const { price: _, ...facts } = findModel("anthropic", "claude-haiku-4-5");
    const { price, ...known } = findModel("claudeaws", "claude-haiku-4-5");
    assert.deepEqual([price, known], [undefined, { ...facts, vendor: "claudeaws" }]);
  });
});

describe("azure with an identity of Entra ID", () => {
  it("asks an old deployment with a token that all runs share, and with no key", async (t) => {
    await using tokens = await startTokenServer();
    const isToken = (token: string): boolean => token === tokens.given.at(-1);
    const azure = await startChat(t, "from azure", isToken);
    const env = {
      AZURE_OPENAI_ENDPOINT: `${azure.origin}?api-version=2024-10-21`,
      AZURE_POD_IDENTITY_AUTHORITY_HOST: tokens.origin,
    };
    const first = ask(t, { env }, { model: "azure/old" });
    const second = ask(t, { env }, { model: "azure/old" });
    assert.deepEqual([(await first).text, (await second).text], ["from azure", "from azure"]);
    assert.equal(tokens.requests.length, 1);
    const path = "/openai/deployments/old/chat/completions?api-version=2024-10-21";
    assert.deepEqual(
      azure.requests.map((one) => one.path),
      [path, path],
    );
    assert.equal(azure.requests[0]?.headers["api-key"], undefined);
  });

  it("sends a key as before if there is one", async (t) => {
    const azure = await startChat(t, "from azure", () => true);
    const env = { AZURE_OPENAI_API_KEY: "key-0123456789", AZURE_CLIENT_SECRET: SECRET };
    const request = {
      model: "azure/new",
      url: `${azure.origin}/openai/v1`,
      provider: "openai-chat",
    };
    assert.equal((await ask(t, { env }, request)).text, "from azure");
    assert.equal(azure.requests[0]?.path, "/openai/v1/chat/completions");
    assert.equal(azure.requests[0]?.headers["api-key"], "key-0123456789");
    assert.equal(azure.requests[0]?.headers.authorization, undefined);
  });

  it("may be several, each with a key or an identity of its own", async (t) => {
    await using tokens = await startTokenServer();
    const azure = await startChat(t, "from azure", () => true);
    const url = `${azure.origin}/openai?api-version=2024-10-21`;
    const vendors = {
      eu: { like: "azure", url, api_key_name: "EU_KEY" },
      us: { like: "azure", url },
    };
    const env = { EU_KEY: "key-of-eu", AZURE_POD_IDENTITY_AUTHORITY_HOST: tokens.origin };
    for (const model of ["eu/one", "us/two"]) await ask(t, { env, vendors }, { model });
    assert.deepEqual(
      azure.requests.map(({ path, headers }) => [path, headers["api-key"], headers.authorization]),
      [
        ["/openai/deployments/one/chat/completions?api-version=2024-10-21", "key-of-eu", undefined],
        [
          "/openai/deployments/two/chat/completions?api-version=2024-10-21",
          undefined,
          `Bearer ${tokens.given[0]}`,
        ],
      ],
    );
  });

  it("shows no token that an answer contains", async (t) => {
    await using tokens = await startTokenServer();
    const azure = await startChat(t, "from azure", () => false);
    const env = {
      AZURE_OPENAI_ENDPOINT: `${azure.origin}?api-version=2024-10-21`,
      AZURE_POD_IDENTITY_AUTHORITY_HOST: tokens.origin,
    };
    const asked = ask(t, { env }, { model: "azure/old" });
    await assert.rejects(asked, ({ message }: Error) => {
      assert.match(message, /Access denied: /);
      return !message.includes(tokens.given[0] ?? "none");
    });
  });
});
