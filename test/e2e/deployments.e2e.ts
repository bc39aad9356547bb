/** The complete example of docs/server.md, unchanged, and the files of deploy/. */

import assert from "node:assert/strict";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import {
  createServer,
  type IncomingMessage,
  request as requestPlain,
  type ServerResponse,
} from "node:http";
import { request as requestTls } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import {
  reply,
  respond,
  startChatUpstream,
  startResponsesUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { LINUX_LACK, unless } from "../needs.ts";
import { until, untilTrue } from "../patience.ts";
import { createPlace, type Place, type RunningCommand } from "./command.ts";
import { type Nginx, readNginx } from "./docs/nginx.ts";

const ROOT = new URL("../../../", import.meta.url);
const FIXTURES = new URL("test/providers/fixtures/", ROOT);
/** The certificate of the tests has no other name. */
const CERTIFIED = "localhost";

/** The first code block of each language in a section of docs/server.md. */
async function readSection(title: string): Promise<(language: string) => string> {
  const page = await readFile(new URL("docs/server.md", ROOT), "utf8");
  const section = page.split("\n## ").find((text) => text.startsWith(`${title}\n`));
  return (language) =>
    new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(section ?? "")?.[1] ??
    assert.fail(`${title} has no ${language}.`);
}

interface Blocks {
  readonly yaml: string;
  readonly sh: string;
  readonly nginx: Nginx;
}

async function readExample(): Promise<Blocks> {
  const blockOf = await readSection("A complete example");
  return { yaml: blockOf("yaml"), sh: blockOf("sh"), nginx: readNginx(blockOf("nginx")) };
}

/** The words of a command line; quotes join words. */
function toWords(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

interface Example {
  readonly variables: Readonly<Record<string, string>>;
  readonly commands: readonly (readonly string[])[];
}

function readCommands(sh: string): Example {
  const lines = sh.split("\n").filter((line) => line.trim() !== "");
  const exported = lines
    .filter((line) => line.startsWith("export "))
    .flatMap((line) => toWords(line).slice(1));
  const variables = Object.fromEntries(
    exported.map((word): [string, string] => {
      const at = word.indexOf("=");
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
  const commands = lines
    .filter((line) => line.startsWith("offshoot "))
    .map((line) => toWords(line).slice(1));
  return { variables, commands };
}

/** The parts that a test puts in place of the machines and folders of the example; all else is unchanged. */
interface Surroundings extends AsyncDisposable {
  readonly place: Place;
  readonly upstreams: Readonly<Record<"gpu-1" | "gpu-2" | "gpu-3" | "openai", Upstream>>;
  readonly env: Readonly<Record<string, string>>;
  readonly configFile: string;
  readonly commands: Example["commands"];
  readonly nginx: Nginx;
}

async function surround(): Promise<Surroundings> {
  const { yaml, sh, nginx } = await readExample();
  const settings = parse(yaml) as { server: { port: number; hosts: readonly string[] } };
  assert.equal(Number(nginx.target.port), settings.server.port);
  assert.deepEqual(settings.server.hosts, [nginx.host]);
  const { variables, commands } = readCommands(sh);
  const place = await createPlace();
  const keys = { OPENAI_API_KEY: "openai-key", GPU_3_KEY: "gpu-3-key" };
  const saying = (text: string) => respond(() => reply.text(text, { usage: USED }));
  const upstreams = {
    "gpu-1": await startChatUpstream({ engine: saying("From gpu-1.") }),
    "gpu-2": await startChatUpstream({ engine: saying("From gpu-2.") }),
    "gpu-3": await startChatUpstream({ engine: saying("From gpu-3."), key: keys.GPU_3_KEY }),
    openai: await startResponsesUpstream({
      engine: saying("From openai."),
      key: keys.OPENAI_API_KEY,
    }),
  };
  let config = yaml.replace("port: 8484", "port: 0");
  for (const name of ["gpu-1", "gpu-2", "gpu-3"] as const) {
    assert.ok(config.includes(`${name}:8000`), name);
    config = config.replaceAll(`${name}:8000`, new URL(upstreams[name].url).host);
  }
  const etc = join(place.home, "etc");
  const data = join(place.home, "data");
  await mkdir(etc);
  await copyFile(new URL("server.pem", FIXTURES), join(etc, "server.pem"));
  await copyFile(new URL("server-key.pem", FIXTURES), join(etc, "server-key.pem"));
  const configFile = join(etc, "config.yaml");
  await writeFile(configFile, config);
  assert.equal(variables["OFFSHOOT_CONFIG"], "/etc/offshoot/config.yaml");
  assert.equal(variables["OFFSHOOT_DATA"], "/var/lib/offshoot");
  for (const name of Object.keys(keys)) assert.ok(variables[name], `The example sets ${name}.`);
  return {
    place,
    upstreams,
    configFile,
    commands,
    nginx,
    env: {
      OFFSHOOT_CONFIG: configFile,
      OFFSHOOT_DATA: data,
      ...keys,
      OPENAI_BASE_URL: upstreams.openai.url,
    },
    async [Symbol.asyncDispose]() {
      await place[Symbol.asyncDispose]();
      for (const upstream of Object.values(upstreams)) await upstream.close();
    },
  };
}

const USED = { input: 1000, output: 100 };

interface Proxy extends AsyncDisposable {
  readonly url: string;
}

/** Does what the example's nginx does: passes everything on, under the public name. */
async function startProxy(
  target: string,
  { location, target: shown, host }: Nginx,
): Promise<Proxy> {
  const ca = await readFile(new URL("ca.pem", FIXTURES));
  const { port } = new URL(target);
  const isTls = shown.protocol === "https:";
  const where = isTls ? { host: CERTIFIED, servername: CERTIFIED, port, ca } : { port };
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    const { method, url: path = "", headers } = request;
    if (!path.startsWith(location)) return void response.writeHead(404).end();
    const options = { ...where, method, path, headers: { ...headers, host } };
    const onward = (isTls ? requestTls : requestPlain)(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  };
  const server = createServer(pass);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
}

async function readUrl(serving: RunningCommand): Promise<string> {
  const address = /listening at (https?:\/\/[^\s,]+).*\n/;
  await serving.waitForStderr(address);
  return address.exec(serving.stderr)?.[1] ?? assert.fail(serving.stderr);
}

interface Asked {
  readonly status: number;
  readonly model: unknown;
  readonly text: string;
}

async function ask(url: string, key: string, body: object): Promise<Asked> {
  const answer = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, connection: "close" },
    body: JSON.stringify(body),
  });
  const { model, output } = (await answer.json()) as Made;
  const text = (output ?? []).flatMap(({ content = [] }) => content).map((part) => part.text);
  return { status: answer.status, model, text: text.join("") };
}

interface Made {
  readonly model?: string;
  readonly output?: readonly { readonly content?: readonly { readonly text: string }[] }[];
}

/** Asks until one of the answers is this: a client cannot choose the worker. */
async function untilSaid(asking: () => Promise<Asked>, text: string): Promise<void> {
  await untilTrue(async () => {
    const { status, text: said } = await asking();
    assert.equal(status, 200);
    return said === text;
  }, text);
}

function linesOf({ stderr }: RunningCommand): Record<string, unknown>[] {
  const lines = stderr.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe(...unless(LINUX_LACK)("the complete example of docs/server.md"), () => {
  it("serves three names, two machines and a fallback to clients with keys", async () => {
    await using around = await surround();
    const { place, env, upstreams } = around;
    const keys: string[] = [];
    for (const words of around.commands.slice(0, -1)) {
      const made = await place.run(words, { env });
      assert.equal(made.code, 0, made.stderr);
      keys.push(made.stdout.trim());
    }
    const [app = "", research = "", prometheus = ""] = keys;
    const serving = place.start(around.commands.at(-1) ?? [], { env });
    await using proxy = await startProxy(await readUrl(serving), around.nginx);
    const { url } = proxy;
    const fast = (): Promise<Asked> => ask(url, app, { model: "fast", input: "Hi" });

    const answered = (model: string, text: string): Asked => ({ status: 200, model, text });
    const large = { model: "large", input: "Hi", store: false };
    assert.deepEqual(await ask(url, app, large), answered("large", "From gpu-3."));
    const vendor = { model: "vendor", input: "Hi" };
    assert.deepEqual(await ask(url, research, vendor), answered("vendor", "From openai."));
    assert.equal((await ask(url, app, vendor)).status, 403);
    assert.equal((await ask(url, "osk_wrong", vendor)).status, 401);
    await untilSaid(fast, "From gpu-1.");
    await untilSaid(fast, "From gpu-2.");
    assert.equal(upstreams["openai"].requests.length, 1, "the fallback was not needed");
    for (const { body } of [...upstreams["gpu-1"].requests, ...upstreams["gpu-3"].requests]) {
      assert.equal(body["max_tokens"], undefined, "a length beyond the window is refused by vLLM");
    }

    const listing = await fetch(`${url}/v1/models`, {
      headers: { authorization: `Bearer ${app}` },
    });
    const { data } = (await listing.json()) as { data: readonly { id: string }[] };
    assert.deepEqual(
      data.map(({ id }) => id),
      ["fast", "large"],
    );

    await upstreams["gpu-1"].close();
    // Enough for three failures in a row in one of the two workers, whichever is asked first.
    for (let count = 0; count < 30; count++) {
      assert.deepEqual(await fast(), answered("fast", "From gpu-2."));
    }
    await upstreams["gpu-2"].close();
    assert.deepEqual(await fast(), answered("fast", "From openai."));
    assert.equal(upstreams["openai"].requests.at(-1)?.body["model"], "gpt-5-mini");
    const streamed = await fetch(`${url}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${app}` },
      body: JSON.stringify({ model: "fast", input: "Hi", stream: true }),
    });
    assert.match(await streamed.text(), /From ope.*response\.completed.*\[DONE\]/s);

    const line = await until(
      () => linesOf(serving).findLast(({ deployment }) => deployment === "openai/gpt-5-mini"),
      "the line of a request that the fallback answered",
    );
    assert.ok(Number(line["tries"]) >= 1);
    const cooldown = await until(
      () =>
        linesOf(serving).find((told) => String(told["cooldown"]).startsWith("custom/qwen3-8b@")),
      "the line of a cooldown",
    );
    assert.equal(cooldown["seconds"], 30);
    const cost = (1000 * 0.25 + 100 * 2) / 1_000_000;
    assert.equal(Number(line["cost_usd"]).toFixed(9), cost.toFixed(9));
    const counted = /offshoot_deployment_answers_total\{deployment="openai\/gpt-5-mini"\} 2\n/;
    const metrics = await until(async () => {
      const headers = { authorization: `Bearer ${prometheus}` };
      const text = await (await fetch(`${url}/metrics`, { headers })).text();
      return counted.test(text) ? text : undefined;
    }, "a count of two answers");
    assert.match(
      metrics,
      /offshoot_deployment_failures\{deployment="custom\/qwen3-8b@[^}]*\} [1-9]/,
    );

    // A change of the file takes effect without a restart.
    const config = await readFile(around.configFile, "utf8");
    const more =
      "    vendor: openai/gpt-5.1\n    extra:\n      - openai/gpt-5.1\n      - openai/gpt-5-mini\n";
    await writeFile(around.configFile, config.replace("    vendor: openai/gpt-5.1\n", more));
    const all = (await place.run(["keys", "create", "all"], { env })).stdout.trim();
    await untilTrue(async () => {
      const { status } = await ask(url, all, { model: "extra", input: "Hi" });
      return status === 200;
    }, "the name that was added");

    serving.child.kill("SIGTERM");
    const { code, stderr } = await serving.ended;
    assert.equal(code, 0, stderr);
  });
});

describe("a path in front of every address, as docs/server.md says", () => {
  it("is passed on by the proxy, and answered by the server", async () => {
    const blockOf = await readSection("Behind a path");
    const yaml = blockOf("yaml");
    const nginx = readNginx(blockOf("nginx"));
    const { server } = parse(yaml) as { server: { path_prefix: string; hosts: readonly string[] } };
    assert.equal(nginx.location, `${server.path_prefix}/`);
    await using place = await createPlace();
    const config = join(place.home, "config.yaml");
    await writeFile(config, yaml);
    const args = ["serve", "--no-auth", "--port", "0", "-m", "embedded/offline"];
    const serving = place.start(args, { env: { OFFSHOOT_CONFIG: config } });
    const [host] = server.hosts;
    await using proxy = await startProxy(await readUrl(serving), { ...nginx, host });
    const answer = await fetch(`${proxy.url}${nginx.location}v1/models`);
    assert.equal(answer.status, 200, await answer.text());
  });
});

const DEPLOY = new URL("deploy/", ROOT);

function readDeploy(name: string): Promise<string> {
  return readFile(new URL(name, DEPLOY), "utf8");
}

describe(...unless(LINUX_LACK)("deploy"), () => {
  const starts: Readonly<Record<string, () => Promise<string[]>>> = {
    "offshoot.service": async () => {
      const [, line = ""] =
        /^ExecStart=\S*\/offshoot (.*)$/m.exec(await readDeploy("offshoot.service")) ?? [];
      return toWords(line);
    },
    Dockerfile: async () => {
      const [, list = "[]"] = /^CMD (\[.*\])$/m.exec(await readDeploy("Dockerfile")) ?? [];
      return (JSON.parse(list) as string[]).slice(1);
    },
  };
  for (const [name, readArgs] of Object.entries(starts)) {
    it(`has settings that the command of ${name} starts with`, async () => {
      await using place = await createPlace();
      const config = join(place.home, "config.yaml");
      await writeFile(config, (await readDeploy("config.yaml")).replace("8484", "0"));
      const args = await readArgs();
      assert.equal(args[0], "serve");
      const serving = place.start(args, { env: { OFFSHOOT_CONFIG: config } });
      const { port } = new URL(await readUrl(serving));
      assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
      serving.child.kill("SIGTERM");
      const { code, stderr } = await serving.ended;
      assert.equal(code, 0, stderr);
    });
  }

  it("has a compose file whose files and volumes are those of the Dockerfile", async () => {
    const { services } = parse(await readDeploy("compose.sqlite.yaml")) as {
      services: { offshoot: { volumes: readonly string[]; ports: readonly string[] } };
    };
    const dockerfile = await readDeploy("Dockerfile");
    for (const volume of services.offshoot.volumes) {
      assert.ok(dockerfile.includes(volume.split(":")[1] ?? "?"), volume);
    }
    const [, port = "?"] = /^EXPOSE (\d+)$/m.exec(dockerfile) ?? [];
    assert.ok(services.offshoot.ports.every((published) => published.endsWith(`:${port}`)));
  });
});
