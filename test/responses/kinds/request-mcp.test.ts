import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { systemClock } from "../../../src/base/clock.ts";
import type { McpTool } from "../../../src/protocol/hosted-kinds/mcp.ts";
import {
  createRequestMcp,
  type RequestMcpParts,
} from "../../../src/responses/kinds/request-mcp.ts";
import type { KindRequest } from "../../../src/responses/kinds/tool-kind.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { PATIENCE_MS, patience } from "../../patience.ts";
import { startSmallServer } from "../../runtime/small-mcp-server.ts";

const REQUEST: KindRequest = {
  tenant: "tenant",
  runId: "run_1",
  include: new Set<string>(),
  catalogue: [],
  get signal() {
    return patience();
  },
};

function connector(parts: Partial<RequestMcpParts> = {}): ReturnType<typeof createRequestMcp> {
  const network = { privateHosts: ["127.0.0.1"] };
  const limits = { connectMs: PATIENCE_MS, listMs: PATIENCE_MS, callMs: PATIENCE_MS };
  return createRequestMcp({ clock: systemClock, version: "1.0.0", network, ...limits, ...parts });
}

const mcp = (server_url: string, more: Partial<McpTool> = {}): McpTool => ({
  type: "mcp",
  server_label: "small",
  server_url,
  ...more,
});

async function open(t: TestContext, tool: McpTool, connect = connector()) {
  const server = await connect(tool, REQUEST);
  assert.ok(server);
  t.after(() => server.close());
  return server;
}

describe("an MCP server that a request names", () => {
  it("gives its tools under its own names, with what it says of them", async (t) => {
    const small = await startSmallServer(t);
    const { tools } = await open(t, mcp(small.url));
    assert.deepEqual(
      tools.map(({ tool, isReadOnly }) => [tool.spec.name, isReadOnly, tool.pin]),
      [
        ["look", true, undefined],
        ["change", false, undefined],
      ],
    );
    const [look] = tools;
    const context = { signal: REQUEST.signal } as Parameters<Tool["run"]>[1];
    assert.equal(await look?.tool.run({ text: "it" }, context), "look did it");
  });

  it("is shown the client's key and headers, word for word", async (t) => {
    const small = await startSmallServer(t);
    const headers = { "x-team": "$PATH and $HOME" };
    await open(t, mcp(small.url, { authorization: "secret-1", headers }));
    const [first] = small.headers;
    assert.equal(first?.["authorization"], "Bearer secret-1");
    assert.equal(first?.["x-team"], "$PATH and $HOME");
  });

  it("is not reached on a private network, by whatever name", async (t) => {
    const small = await startSmallServer(t);
    const strict = connector({ network: { privateHosts: [] } });
    const forms = ["127.0.0.1", "localhost", "[::1]", "0x7f.1", "169.254.169.254", "10.0.0.1"];
    for (const host of forms) {
      const url = `http://${host}:${small.port}/mcp`;
      await assert.rejects(strict(mcp(url), REQUEST), { code: "forbidden" }, host);
    }
    const resolve = async (): Promise<string[]> => ["127.0.0.1"];
    const rebound = connector({ network: { privateHosts: [], resolve } });
    const url = `http://public.example:${small.port}/mcp`;
    await assert.rejects(rebound(mcp(url), REQUEST), { code: "forbidden" });
    assert.equal(small.headers.length, 0);
  });

  it("is checked again when the connection is opened: an earlier answer of DNS does not count", async (t) => {
    const small = await startSmallServer(t);
    const answers = [["93.184.215.14"], ["127.0.0.1"], ["127.0.0.1"]];
    const resolve = async (): Promise<string[]> => answers.shift() ?? ["127.0.0.1"];
    const rebound = connector({ network: { privateHosts: [], resolve } });
    const url = `http://public.example:${small.port}/mcp`;
    await assert.rejects(rebound(mcp(url), REQUEST), { code: "forbidden" });
    assert.equal(small.headers.length, 0);
  });

  it("refuses an address that is not a web address, or contains a login", async () => {
    for (const url of [
      "file:///etc/passwd",
      "http://user:pass@127.0.0.1/",
      "http://127.0.0.1/ x",
    ]) {
      await assert.rejects(connector()(mcp(url), REQUEST), { code: "forbidden" }, url);
    }
  });

  it("follows a redirect on the same server, and none to another", async (t) => {
    const other = await startSmallServer(t);
    const here = await startSmallServer(t, {
      before(request, response) {
        const to = request.url === "/moved" ? "/mcp" : undefined;
        const away = request.url === "/away" ? other.url : undefined;
        const location = to ?? away;
        if (!location) return false;
        response.writeHead(307, { location }).end();
        return true;
      },
    });
    const { tools } = await open(t, mcp(here.url.replace("/mcp", "/moved")));
    assert.equal(tools.length, 2);
    const away = mcp(here.url.replace("/mcp", "/away"), { authorization: "secret-2" });
    await assert.rejects(connector()(away, REQUEST), /redirect to another server/);
    assert.equal(other.headers.length, 0);
  });

  it("does not hang on a server that says nothing", async (t) => {
    const silent = await startSmallServer(t, { before: () => true });
    const quick = connector({ connectMs: 50, listMs: 100 });
    await assert.rejects(quick(mcp(silent.url), REQUEST), {
      code: "tool_failed",
      message: /`small` (did not list|cannot be used)/,
    });
  });

  it("fails with a clear message if it refuses the key or does not answer", async (t) => {
    const closed = await startSmallServer(t, {
      before(_, response) {
        response.writeHead(401).end();
        return true;
      },
    });
    const wrong = mcp(closed.url, { authorization: "secret-3" });
    await assert.rejects(connector()(wrong, REQUEST), {
      code: "tool_failed",
      message: "The MCP server `small` does not accept the request's `authorization` (401).",
    });
    const gone = connector()(mcp("http://127.0.0.1:9/mcp"), REQUEST);
    await assert.rejects(gone, { code: "tool_failed" });
  });

  it("is one of the settings if it has that name, and the key may use it", async () => {
    const tool = { spec: { type: "function", name: "mcp__mail__send" }, readOnly: false } as Tool;
    const request = { ...REQUEST, catalogue: [tool] };
    const connect = connector();
    const named = { type: "mcp", server_label: "post" } as const;
    const found = await connect({ ...named, connector_id: "mail" }, request);
    assert.deepEqual(
      found?.tools.map((one) => one.tool.spec.name),
      ["send"],
    );
    assert.ok(await connect({ type: "mcp", server_label: "mail" }, request));
    // A connector of the API is left out; any other is an error, by either name.
    const gmail = { ...named, connector_id: "connector_gmail" };
    assert.equal(await connect(gmail, REQUEST), undefined);
    for (const unknown of [
      { ...named, connector_id: "mail" },
      { ...named, server_label: "mail" },
    ]) {
      await assert.rejects(connect(unknown, REQUEST), { code: "invalid_request" });
    }
  });
});
