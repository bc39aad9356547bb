/** The web tools of the built command: a page of the user's own network only with permission. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import type { ToolDecision } from "../../src/protocol/run-events.ts";
import { reply, script } from "../../src/testing/index.ts";
import { writePdf } from "../tools/web/content/pdf-file.ts";
import { createPlace } from "./command.ts";
import { CHAT, runAt } from "./wires.ts";

const PAGE = `<!doctype html><title>Otters</title><article><h1>Otters</h1>
<p>${"Otters hold hands while they sleep. ".repeat(12)}</p></article>`;

const PDF = writePdf([{ lines: ["Otters hold hands."], isCompressed: true }]);

interface Site extends AsyncDisposable {
  readonly port: number;
  readonly asked: string[];
}

async function startSite(): Promise<Site> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers["user-agent"]} ${request.url}`);
    if (request.url === "/robots.txt") response.writeHead(404).end();
    else if (request.url === "/away")
      response.writeHead(302, { location: "http://127.0.0.2/" }).end();
    else if (request.url === "/otters.pdf")
      response.writeHead(200, { "content-type": "application/pdf" }).end(PDF);
    else response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
}

interface Attempt {
  readonly tool: "fetch" | "scrape_webpage";
  readonly url: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** One call of a tool: the result for the model, and the record. */
async function attempt({ tool, url, env = {} }: Attempt) {
  await using place = await createPlace();
  const engine = script(
    reply.calls([{ name: tool, arguments: JSON.stringify({ url }) }]),
    reply.text("Done."),
  );
  await using upstream = await CHAT.start({ engine });
  const ended = await place.run(
    runAt(upstream, CHAT, "-q", "--approve", "auto", "--tools", tool, "Read it"),
    {
      env,
    },
  );
  assert.deepEqual([ended.stderr, ended.stdout, ended.code], ["", "Done.\n", 0]);
  const [id = ""] = await place.runIds();
  const { events } = await place.show(id);
  const decisions = events.filter((event): event is ToolDecision => event.type === "tool_decision");
  return { told: JSON.stringify(upstream.requests[1]?.body), last: decisions.at(-1) };
}

describe("the web tools", () => {
  it("read no page of this machine, and the refusal is recorded", async () => {
    await using site = await startSite();
    for (const host of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"]) {
      const url = `http://${host}:${site.port}/`;
      const { told, last } = await attempt({ tool: "fetch", url });
      assert.match(told, /The address is not allowed/);
      assert.deepEqual([last?.verdict, last?.by], ["deny", "guard"]);
    }
    assert.deepEqual(site.asked, []);
  });

  for (const tool of ["fetch", "scrape_webpage"] as const) {
    it(`${tool} reads a page that \`web_private_hosts\` lets through`, async () => {
      await using site = await startSite();
      const host = `127.0.0.1:${site.port}`;
      const env = { OFFSHOOT_WEB_PRIVATE_HOSTS: host };
      const { told } = await attempt({ tool, url: `http://${host}/`, env });
      assert.match(told, /Otters hold hands/);
      assert.match(site.asked[0] ?? "", /^offshoot\/\d[^ ]* \/robots\.txt$/);
      assert.equal(site.asked.length, 2);
    });
  }

  it("read a PDF as its text", async () => {
    await using site = await startSite();
    const host = `127.0.0.1:${site.port}`;
    const env = { OFFSHOOT_WEB_PRIVATE_HOSTS: host };
    const { told } = await attempt({ tool: "fetch", url: `http://${host}/otters.pdf`, env });
    assert.match(told, /Otters hold hands\./);
  });

  it("do not follow such a page to another address of this machine", async () => {
    await using site = await startSite();
    const host = `127.0.0.1:${site.port}`;
    const env = { OFFSHOOT_WEB_PRIVATE_HOSTS: host };
    const { told } = await attempt({ tool: "scrape_webpage", url: `http://${host}/away`, env });
    assert.match(told, /Error scraping URL: The address is not allowed: 127\.0\.0\.2 /);
  });

  it("do not use a proxy that the environment names", async () => {
    await using site = await startSite();
    const host = `127.0.0.1:${site.port}`;
    const env = {
      OFFSHOOT_WEB_PRIVATE_HOSTS: host,
      HTTP_PROXY: "http://127.0.0.1:9",
      NO_PROXY: "localhost,127.0.0.1:1",
    };
    const { told } = await attempt({ tool: "fetch", url: `http://${host}/`, env });
    assert.match(told, /Otters hold hands/);
  });
});
