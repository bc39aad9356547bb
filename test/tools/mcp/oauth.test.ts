import assert from "node:assert/strict";
import { get } from "node:http";
import { describe, it } from "node:test";
import { patience } from "../../patience.ts";
import { createTestHub, type TestHub } from "./hub-parts.ts";
import { type OAuthServer, startOAuthServer } from "./oauth-server.ts";

/** Does what a browser does: follows the address to the server, and the server's answer back to us. */
async function browse(url: URL): Promise<void> {
  const asked = await visit(url.href);
  assert.equal(asked.status, 302);
  const back = await visit(asked.location);
  assert.deepEqual(
    [back.status, back.text],
    [200, "You are logged in. This window may be closed.\n"],
  );
}

function visit(url: string): Promise<{ status: number; location: string; text: string }> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      const { statusCode: status = 0, headers } = response;
      response.on("end", () => resolve({ status, location: headers.location ?? "", text }));
    }).on("error", reject);
  });
}

function open({ url }: OAuthServer, logins?: TestHub["logins"]): TestHub {
  return createTestHub({ web: { url } }, logins ? { logins } : {});
}

const logIn = (test: TestHub, show = browse): Promise<void> =>
  test.hub.logIn("web", async (url) => void show(url), patience());

describe("a server that requires a login", () => {
  it("is reported with the command to run, and gets nothing from a run without a login", async () => {
    await using server = await startOAuthServer();
    await using test = open(server);
    assert.deepEqual(await test.hub.tools(), []);
    assert.match(test.problems.join(), /`web` asks for a login\. Run `offshoot mcp login web`\./);
    assert.deepEqual(server.log, []);
  });

  it("is logged in to with PKCE by the browser, and then used", async () => {
    await using server = await startOAuthServer();
    await using test = open(server);
    await logIn(test);
    assert.deepEqual(server.log, ["registered", "code"]);
    assert.equal(await test.call("mcp__web__secret"), "the secret");
  });

  it("is used by the next hub with the stored tokens, and again when a token is old", async () => {
    await using server = await startOAuthServer();
    await using first = open(server);
    await logIn(first);
    await using next = open(server, first.logins);
    assert.equal(await next.call("mcp__web__secret"), "the secret");
    server.expire();
    assert.equal(await next.call("mcp__web__secret"), "the secret");
    assert.deepEqual(server.log, ["registered", "code", "refreshed"]);
  });

  it("asks for a new login after everything was revoked, and registers no second time", async () => {
    await using server = await startOAuthServer();
    await using first = open(server);
    await logIn(first);
    server.revoke();
    await using next = open(server, first.logins);
    assert.deepEqual(await next.hub.tools(), []);
    assert.match(next.problems.join(), /asks for a login/);
    await using last = open(server, first.logins);
    await logIn(last);
    assert.deepEqual(server.log, ["registered", "code", "code"]);
    assert.equal(await last.call("mcp__web__secret"), "the secret");
  });

  it("gets no token of another server that had its name", async () => {
    await using server = await startOAuthServer();
    await using other = await startOAuthServer();
    await using test = open(server);
    await logIn(test);
    await using next = open(other, test.logins);
    assert.deepEqual(await next.hub.tools(), []);
    assert.match(next.problems.join(), /asks for a login/);
    assert.deepEqual(other.seen, []);
  });

  it("accepts no answer without the state of this login", async () => {
    await using server = await startOAuthServer();
    await using test = open(server);
    const forge = async (url: URL): Promise<void> => {
      const back = url.searchParams.get("redirect_uri") ?? "";
      assert.equal((await visit(`${back}?code=stolen&state=guessed`)).status, 404);
      await browse(url);
    };
    await logIn(test, forge);
    assert.equal(await test.call("mcp__web__secret"), "the secret");
  });

  it("reports why it refused", async () => {
    await using server = await startOAuthServer();
    await using test = open(server);
    const refuse = async (url: URL): Promise<void> => {
      const state = url.searchParams.get("state") ?? "";
      const answer = new URLSearchParams({ state, error: "access_denied" });
      await visit(`${url.searchParams.get("redirect_uri")}?${answer}`);
    };
    await assert.rejects(logIn(test, refuse), /refused the login: access_denied/);
  });

  it("is waited for no longer than the user wants", async () => {
    await using server = await startOAuthServer();
    await using test = open(server);
    const stop = new AbortController();
    const login = test.hub.logIn("web", async () => stop.abort(), stop.signal);
    await assert.rejects(login, { code: "cancelled" });
  });

  it("cannot be a program", async () => {
    await using test = createTestHub({ web: { command: "x" } });
    await assert.rejects(logIn(test), { code: "invalid_request" });
  });
});
