import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { asking, startWeb } from "../web-servers.ts";

interface Site {
  readonly status?: number;
  readonly robots: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const startSite = ({ status = 200, robots, headers = {} }: Site) =>
  startWeb({
    parts: { respectRobots: true },
    answer(request, response) {
      if (request.url === "/robots.txt") response.writeHead(status, headers).end(robots);
      else response.end("A page.");
    },
  });

const RULES = `User-agent: *
Disallow: /

User-agent: Offshoot
Disallow: /private/
Allow: /private/open
`;

describe("robots.txt", () => {
  it("is read once for each origin, and applies to the paths that it names", async () => {
    await using web = await startSite({ robots: RULES });
    const get = (path: string) => web.client.get(`http://example.com${path}`, asking());
    assert.equal((await get("/page")).status, 200);
    assert.equal((await get("/private/open")).status, 200);
    await assert.rejects(get("/private/x"), {
      code: "forbidden",
      message:
        "`example.com` asks programs not to read `/private/x` (robots.txt). `web_robots: false` reads it nevertheless.",
    });
    await web.client.get("http://example.com:8080/page", asking());
    const asked = web.asked.filter((one) => one.endsWith("robots.txt"));
    assert.deepEqual(asked, ["example.com /robots.txt", "example.com:8080 /robots.txt"]);
  });

  it("applies to the target of a redirect", async () => {
    await using web = await startWeb({
      parts: { respectRobots: true },
      answer(request, response) {
        if (request.url === "/robots.txt") {
          response.end(request.headers.host === "b.example" ? "User-agent: *\nDisallow: /" : "");
        } else response.writeHead(302, { location: "http://b.example/x" }).end();
      },
    });
    await assert.rejects(web.client.get("http://a.example/", asking()), { code: "forbidden" });
    assert.ok(!web.asked.includes("b.example /x"));
  });

  for (const status of [404, 403, 410]) {
    it(`allows everything if the server answers ${status}`, async () => {
      await using web = await startSite({ status, robots: "User-agent: *\nDisallow: /" });
      assert.equal((await web.client.get("http://example.com/", asking())).status, 200);
    });
  }

  it("allows everything if it redirects to a private address, which is not asked", async () => {
    const headers = { location: "http://10.0.0.1/robots.txt" };
    await using web = await startSite({ status: 301, robots: "", headers });
    assert.equal((await web.client.get("http://example.com/", asking())).status, 200);
    assert.equal(web.dialled.length, 2);
  });

  it("forbids everything while its server is broken", async () => {
    await using web = await startSite({ status: 503, robots: "" });
    const message = /cannot say whether programs may read it/;
    await assert.rejects(web.client.get("http://example.com/", asking()), { message });
  });

  it("is read once for parallel calls, and a cancelled call does not cancel the others", async () => {
    let release = (): void => {};
    const asked = new Promise<void>((resolve) => {
      release = resolve;
    });
    let answerRobots = (): void => {};
    await using web = await startWeb({
      parts: { respectRobots: true },
      answer(request, response) {
        answerRobots = () => void response.end(RULES);
        if (request.url === "/robots.txt") release();
        else response.end("A page.");
      },
    });
    const stop = new AbortController();
    const first = web.client.get("http://example.com/a", asking({ signal: stop.signal }));
    const second = web.client.get("http://example.com/b", asking());
    await asked;
    stop.abort();
    await assert.rejects(first, { code: "cancelled" });
    answerRobots();
    assert.equal((await second).status, 200);
    assert.deepEqual(web.asked, ["example.com /robots.txt", "example.com /b"]);
  });

  it("is cancelled with the last call that waits for it, and requested again", async () => {
    const stop = new AbortController();
    let count = 0;
    await using web = await startWeb({
      parts: { respectRobots: true },
      answer(request, response) {
        if (++count > 1) response.end("");
        else {
          request.socket.once("close", () => closed());
          stop.abort();
        }
      },
    });
    let closed = (): void => {};
    const hungUp = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const first = web.client.get("http://example.com/", asking({ signal: stop.signal }));
    await assert.rejects(first, { code: "cancelled" });
    await hungUp;
    assert.equal((await web.client.get("http://example.com/", asking())).status, 200);
  });

  it("is ignored for a call of an API", async () => {
    await using web = await startSite({ robots: "User-agent: *\nDisallow: /" });
    const call = { url: "http://example.com/", method: "GET" as const, headers: {} };
    assert.equal((await web.client.request({ ...call, ...asking() })).status, 200);
    assert.deepEqual(web.asked, ["example.com /"]);
  });
});
