/**
 * The package as users install it: packed, installed into an empty folder with an empty home and without
 * development dependencies. npm takes packages that were installed for this clone from its cache, others
 * from the registry.
 */

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { checkNumber, sizeOf } from "../folder-size.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** With empty standard input: the command reads piped input to its end. */
function execute(
  program: string,
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
) {
  const running = promisify(execFile)(program, [...args], options);
  running.child.stdin?.end();
  return running;
}

describe("the installed package", () => {
  let place = "";
  const env = () => ({
    HOME: join(place, "home"),
    PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
  });
  const offshoot = () => join(place, "project", "node_modules", ".bin", "offshoot");

  before(async () => {
    place = await mkdtemp(join(tmpdir(), "offshoot-install-"));
    for (const folder of ["home", "project"]) await mkdir(join(place, folder));
    const { stdout: cache } = await execute("npm", ["config", "get", "cache"], { cwd: ROOT });
    // `npm run build` came first; a build in the middle of other tests would remove their program.
    const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", place];
    const { stdout: packed } = await execute("npm", pack, { cwd: ROOT });
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
    await writeFile(join(place, "project", "package.json"), '{ "private": true }\n');
    const flags = [
      "--omit=dev",
      "--prefer-offline",
      "--no-audit",
      "--no-fund",
      "--cache",
      cache.trim(),
    ];
    await execute("npm", ["install", ...flags, join(place, filename)], {
      cwd: join(place, "project"),
      env: env(),
    });
  });
  after(() => rm(place, { recursive: true, force: true }));

  it("runs the main job", async () => {
    await mkdir(join(place, "work"));
    await writeFile(join(place, "work", "a.ts"), "export {};\n");
    const asked = ["run", "List the TypeScript files here"];
    const { stdout } = await execute(offshoot(), asked, { cwd: join(place, "work"), env: env() });
    assert.match(stdout, /a\.ts/);
  });

  it("the installed package serves the API", async () => {
    const child = spawn(offshoot(), ["serve", "--port", "0", "--no-auth"], {
      cwd: join(place, "project"),
      env: env(),
      stdio: ["ignore", "ignore", "pipe"],
    });
    try {
      let said = "";
      for await (const piece of child.stderr.setEncoding("utf8")) {
        said += piece;
        if (/listening at \S+\s/.test(said)) break;
      }
      const [, url] = /listening at (http:\/\/[^\s,]+)/.exec(said) ?? assert.fail(said);
      const answer = await fetch(`${url}/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "embedded/offline", input: "What is 6 * 7?" }),
      });
      assert.match(await answer.text(), /42/);
    } finally {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
  });

  it("is a library with types, without a package that is not installed", async () => {
    const program = `
      import { createRuntime } from "offshoot";
      import "offshoot/protocol";
      import "offshoot/testing";
      import { createAiProvider } from "offshoot/ai-sdk";
      import { createAgentsModel } from "offshoot/openai-agents";
      import { createServerApp } from "offshoot/server";
      const runtime = await createRuntime();
      const run = await runtime.run({ model: "embedded/offline", input: "What is 6 * 7?" });
      console.log((await run.result()).output_text);
      await runtime.close();
      const app = await createServerApp({ settings: { model: "embedded/offline" } });
      const key = await app.createKey({ name: "own" });
      const asked = { input: "What is 6 * 8?", modelSettings: {}, tools: [], handoffs: [], outputType: "text" };
      const { output } = await createAgentsModel(app, undefined, { key }).getResponse(asked);
      console.log(output[0].content[0].text);
      const prompt = [{ role: "user", content: [{ type: "text", text: "What is 6 * 9?" }] }];
      const { content } = await createAiProvider(app, { key })("embedded/offline").doGenerate({ prompt });
      console.log(content[0].text);
      await app.close();`;
    await writeFile(join(place, "project", "main.mjs"), program);
    const { stdout } = await execute(process.execPath, ["main.mjs"], {
      cwd: join(place, "project"),
      env: env(),
    });
    assert.match(stdout, /42\n.*48\n.*54\n/);
  });

  it("brings few packages, its documents, and the licenses of bundled code", async () => {
    const lock = await readFile(join(place, "project", "package-lock.json"), "utf8");
    const packages = Object.keys((JSON.parse(lock) as { packages: object }).packages);
    const needed = packages.filter((path) => !path.includes("ripgrep-"));
    assert.ok(needed.length < 20, `${needed.length} packages:\n${needed.join("\n")}`);
    // One is the project, one is the package.
    checkNumber(/with its (\d+) dependencies/, needed.length - 2);
    checkNumber(/\((\d+) MB with its/, await sizeOf(join(place, "project", "node_modules")));
    const names = await readdir(join(place, "project", "node_modules", "offshoot"));
    for (const name of ["README.md", "LICENSE", "SECURITY.md", "ARCHITECTURE.md", "docs"]) {
      assert.ok(names.includes(name), name);
    }
    const licenses = await readFile(
      join(place, "project", "node_modules", "offshoot", "dist", "bin", "THIRD-PARTY-LICENSES.txt"),
      "utf8",
    );
    for (const name of ["undici", "ws", "ajv"])
      assert.match(licenses, new RegExp(`^${name} \\d`, "m"));
  });
});
