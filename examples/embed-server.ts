/**
 * The server inside a program that has an HTTP server of its own: one port for both. In a clone:
 * `node scripts/compile.js`, then `node build/examples/embed-server.js`.
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createServerApp } from "offshoot/server";

/** A site with a page `/hello` of its own; `/v1/…` is Offshoot's. Close both when you are done. */
export async function openSite() {
  const app = await createServerApp({ settings: { model: "embedded/offline" } });
  const key = await app.createKey({ name: "example" });
  const server = createServer((request, response) => {
    if (request.url === "/hello") response.end("Hello from the site");
    else void app.handle(request, response);
  });
  server.on("upgrade", app.upgrade);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Clients send it as `Authorization: Bearer …`. */
    key,
    async close() {
      await app.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Asks like any client of the Responses API. */
export async function askSite(url: string, key: string, input: string): Promise<string> {
  const answer = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "embedded/offline", input }),
  });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}: ${await answer.text()}`);
  const { output } = (await answer.json()) as { output: { content: { text: string }[] }[] };
  return output.at(-1)?.content[0]?.text ?? "";
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const site = await openSite();
  try {
    console.log(await (await fetch(`${site.url}/hello`)).text());
    console.log(await askSite(site.url, site.key, "compute 6*7"));
  } finally {
    await site.close();
  }
}
