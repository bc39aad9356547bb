/**
 * The programs of docs/mounting.md, unchanged, with the real packages that they import. Only the models and
 * the port differ. The test adds lines at the end that use the objects of each block.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { ROOT, readBlocks } from "../../doc-blocks.ts";
import { createPlace } from "../../e2e/command.ts";
import { TIMEOUT } from "./client-fixture.ts";
import { MODULES } from "./client-folder.ts";

const blocks = readBlocks("docs/mounting.md").filter(({ language }) => language === "ts");
const texts = blocks.map(({ text }) => text);
/** The block that has an `app` of its own; all others are one program. */
const callerBlock = texts.find((text) => text.includes("caller:")) ?? assert.fail("no caller");

/** Every address on the page is requested, and every model that it makes is asked. */
const USE_ALL = `
const ask = { model: "embedded/offline", input: "compute 6*7" };
const post = (body) => ({
  method: "POST",
  headers: { authorization: \`Bearer \${key}\`, "content-type": "application/json" },
  body: JSON.stringify(body),
});
const readText = async (answer) => (await answer.json()).output.at(-1).content[0].text;
if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
const { port } = server.address();
const overPort = await readText(await fetch(\`http://127.0.0.1:\${port}/v1/responses\`, post(ask)));
const overSite = await readText(await site.fetch(new Request("http://localhost/v1/responses", post(ask))));

const { WebSocket } = await import("ws");
const socket = new WebSocket(\`ws://127.0.0.1:\${port}/v1/responses\`, {
  headers: { authorization: \`Bearer \${key}\` },
});
const overSocket = await new Promise((resolve, reject) => {
  socket.on("error", reject);
  socket.on("open", () => socket.send(JSON.stringify({ type: "response.create", ...ask })));
  socket.on("message", (data) => {
    const event = JSON.parse(data);
    if (event.type === "response.completed") resolve(event.response.output.at(-1).content[0].text);
  });
});
socket.terminate();

const withTools = await generateText({ model, prompt: "read notes.md" });
const hosted = new Runner({ modelProvider, tracingDisabled: true });
const sum = await hosted.run(agent, "compute 6*7");
server.closeAllConnections();
server.close();
console.log(JSON.stringify({
  overPort, overSite, overSocket, text, finalOutput,
  ran: withTools.toolResults.map(({ toolName }) => toolName), read: withTools.text,
  hosted: sum.finalOutput, review: review.text, verdict,
  closed: (await app.close()) && (await reviews.close()),
}));
`;

const USE_CALLER = `
function findUser(cookie) {
  return cookie === "session=ada" ? { id: "ada" } : undefined;
}
const ask = async (cookie, model) => {
  const { status } = await app.fetch(new Request("http://localhost/v1/responses", {
    method: "POST",
    headers: { cookie, "content-type": "application/json" },
    body: JSON.stringify({ model, input: "compute 6*7" }),
  }));
  return status;
};
console.log(JSON.stringify([
  await ask("session=ada", "embedded/offline"),
  await ask("session=eve", "embedded/offline"),
  await ask("session=ada", "openai/gpt-5.1"),
]));
await app.close();
`;

describe("docs/mounting.md", () => {
  it(
    "has programs that answer at a port, in Hono, and as models of both SDKs",
    TIMEOUT,
    async () => {
      const said = await run(texts.filter((text) => text !== callerBlock).join("\n"), USE_ALL);
      const { text, finalOutput, read, review, verdict, ...others } = said as Record<
        string,
        unknown
      >;
      const answer = "6*7 = 42";
      assert.deepEqual(others, {
        overPort: answer,
        overSite: answer,
        overSocket: answer,
        ran: ["mcp_list_tools", "bash_read"],
        hosted: answer,
        closed: true,
      });
      for (const greeting of [text, finalOutput]) assert.match(String(greeting), /^Hello\./);
      for (const shown of [read, verdict]) assert.match(String(shown), /Water the beans\./);
      assert.match(String(review), /T-7: start faster/);
    },
  );

  it(
    "has a program that lets in the users it knows, with the models it names",
    TIMEOUT,
    async () => {
      const imports =
        texts[0]?.match(/^import .* from "offshoot\/server";$/m)?.[0] ?? assert.fail();
      assert.deepEqual(await run(`${imports}\n${callerBlock}`, USE_CALLER), [200, 401, 403]);
    },
  );
});

/** The program's output. It is inside the package, so that `offshoot` is what an installation would have. */
async function run(program: string, uses: string): Promise<unknown> {
  const here = program
    .replaceAll('"openai/gpt-5.1"', '"embedded/offline"')
    .replaceAll('"openai/*"', '"embedded/*"')
    .replace("listen(8080)", "listen(0)");
  await using place = await createPlace({ "notes.md": "Water the beans.\n" });
  await mkdir(join(ROOT, "build"), { recursive: true });
  const folder = await mkdtemp(join(ROOT, "build/mounting-page-"));
  try {
    await symlink(MODULES, join(folder, "node_modules"), "junction");
    const file = join(folder, "program.mjs");
    await writeFile(file, here + uses);
    const env = { PATH: process.env["PATH"], HOME: place.home };
    const options = { cwd: place.cwd, env, ...TIMEOUT };
    const { stdout } = await promisify(execFile)(process.execPath, [file], options);
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
}
