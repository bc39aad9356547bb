import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Failure } from "../../../src/base/failure.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";
import type { McpParts } from "../../../src/tools/mcp/hub.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { untilTrue } from "../../patience.ts";
import { createTestHub, runTool, type TestHub } from "./hub-parts.ts";
import { createMemoryServer, type MemoryServer, memoryTool } from "./memory-server.ts";

function start(
  pages: object[][],
  parts: Partial<McpParts> = {},
  server: object = {},
): TestHub & { server: MemoryServer } {
  const memory = createMemoryServer(pages);
  const test = createTestHub(
    { mem: { command: "none", ...server } },
    { openTransport: memory.open, ...parts },
  );
  return { ...test, server: memory };
}

async function only(test: TestHub): Promise<Tool & { pin: NonNullable<Tool["pin"]> }> {
  const [tool] = await test.hub.tools();
  assert.ok(tool?.pin);
  return { ...tool, pin: tool.pin };
}

describe("the MCP hub", () => {
  it("connects when its tools are needed, and once for parallel calls", async () => {
    await using test = start([[memoryTool("a")]]);
    assert.equal(test.server.connections, 0);
    const lists = await Promise.all([test.hub.tools(), test.hub.tools(), test.hub.tools(["mem"])]);
    assert.deepEqual(
      lists.map((tools) => tools.map(({ spec }) => spec.name)),
      [["mcp__mem__a"], ["mcp__mem__a"], ["mcp__mem__a"]],
    );
    assert.equal(test.server.connections, 1);
  });

  it("describes a tool like the server, and believes none of its hints", async () => {
    const hinted = { ...memoryTool("a", "Reads."), annotations: { readOnlyHint: true } };
    await using test = start([[hinted]]);
    const { spec, readOnly, effect } = await only(test);
    assert.deepEqual(spec.description, "Reads.");
    assert.deepEqual(spec.parameters, { type: "object", properties: {} });
    assert.deepEqual([readOnly, effect], [false, "external"]);
    assert.deepEqual((await test.hub.inspect("mem")).tools[0]?.hints, ["read-only"]);
  });

  it("follows the pages of a list", async () => {
    await using test = start([[memoryTool("a")], [memoryTool("b")], [memoryTool("c")]]);
    assert.equal((await test.hub.tools()).length, 3);
  });

  it("offers only the tools that the settings name", async () => {
    const pages = [["get_a", "get_b", "drop"].map((name) => memoryTool(name))];
    await using test = start(pages, {}, { tools: ["get_*"] });
    const names = (await test.hub.tools()).map(({ spec }) => spec.name);
    assert.deepEqual(names, ["mcp__mem__get_a", "mcp__mem__get_b"]);
  });

  it("starts no disabled server, and knows no others than those it was given", async () => {
    await using test = start([[memoryTool("a")]], {}, { enabled: false });
    assert.deepEqual(await test.hub.tools(), []);
    assert.equal(test.server.connections, 0);
    await assert.rejects(
      test.hub.tools(["men"]),
      /Unknown MCP server `men`\. Did you mean `mem`\?/,
    );
  });

  it("reports that a variable is missing, and starts nothing", async () => {
    await using test = createTestHub({ a: { command: "none", env: { KEY: "$NOT_SET" } } });
    assert.deepEqual(await test.hub.tools(), []);
    assert.match(test.problems.join(), /`a` needs the environment variable `NOT_SET`/);
  });

  it("connects again after the end of a connection, and reads the list again", async () => {
    await using test = start([[memoryTool("a")]]);
    const tool = await only(test);
    assert.equal(await runTool(tool, {}), "called a");
    await test.server.hangUp();
    assert.equal(await runTool(tool, {}), "called a");
    assert.equal(test.server.connections, 2);
  });

  it("waits longer before each start, and leaves a server alone that keeps ending", async () => {
    const clock = createManualClock(1_000_000);
    let starts = 0;
    const openTransport = async () => {
      starts += 1;
      throw new Error("no luck");
    };
    await using test = createTestHub({ a: { command: "x" } }, { clock, openTransport });
    const attempt = async (waitMs: number): Promise<number> => {
      let isDone = false;
      const tools = test.hub.tools().then(() => {
        isDone = true;
      });
      while (clock.sleeping === 0 && !isDone) await settle();
      await clock.advance(waitMs);
      await tools;
      return starts;
    };
    const seen = [await attempt(0), await attempt(0), await attempt(500), await attempt(1000)];
    assert.deepEqual(seen, [1, 2, 3, 4]);
    assert.equal(await attempt(0), 4);
    assert.match(
      test.problems.at(-1) ?? "",
      /started 4 times within a minute.* left alone for 59 s\. no luck/,
    );
    await clock.advance(60_000);
    assert.equal(await attempt(0), 5);
  });

  it("does not wait for a slow server, and has it when it is open", async () => {
    const memory = createMemoryServer([[memoryTool("a")]]);
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const openTransport: McpParts["openTransport"] = async () => {
      await opened;
      return memory.open();
    };
    await using test = createTestHub({ slow: { command: "x" } }, { openTransport, listMs: 50 });
    assert.deepEqual(await test.hub.tools(), []);
    assert.deepEqual(await test.hub.tools(), []);
    assert.deepEqual(test.problems, [
      "The MCP server `slow` did not answer within 0.05 s. The run continues without its tools.",
    ]);
    open();
    assert.equal((await test.hub.inspect("slow")).tools.length, 1);
    await untilTrue(async () => (await test.hub.tools()).length === 1, "the tools of the server");
  });

  it("cancels openings when it is closed", async () => {
    const [near] = InMemoryTransport.createLinkedPair();
    const test = createTestHub({ mute: { command: "x" } }, { openTransport: async () => near });
    const opening = test.hub.tools();
    const started = new Promise<void>((resolve) => {
      const { send } = near;
      near.send = async (message) => {
        resolve();
        await send.call(near, message);
      };
    });
    await started;
    // Nothing else would end it for minutes.
    await test.hub.close();
    await assert.rejects(opening, { code: "cancelled", message: "The MCP servers are closed." });
    assert.deepEqual(test.problems, []);
  });

  it("reports a problem on one line, without what moves a cursor", async () => {
    const openTransport = async () => {
      throw new Failure("invalid_request", "\u001b[2Jno\n\u0007luck");
    };
    await using test = createTestHub({ a: { command: "x" } }, { openTransport });
    assert.deepEqual(await test.hub.tools(), []);
    assert.deepEqual(test.problems, ["no luck"]);
  });

  it("connects to nothing after its close", async () => {
    const test = start([[memoryTool("a")]]);
    const tool = await only(test);
    await test.hub.close();
    await assert.rejects(runTool(tool, {}), /are closed/);
  });
});

describe("the pins of remote tools", () => {
  it("are unknown, then approved, also by the next hub", async () => {
    await using test = start([[memoryTool("a")]]);
    const { pin } = await only(test);
    assert.equal(await pin.standing(), "unknown");
    await pin.agree();
    assert.equal(await pin.standing(), "agreed");
    await using next = start([[memoryTool("a")]], { pins: test.pins });
    assert.equal(await (await only(next)).pin.standing(), "agreed");
  });

  it("are not valid for another server of the same name", async () => {
    await using test = start([[memoryTool("a")]]);
    const { pin } = await only(test);
    await pin.standing();
    await pin.agree();
    await using next = start([[memoryTool("a")]], { pins: test.pins }, { args: ["--other"] });
    assert.equal(await (await only(next)).pin.standing(), "unknown");
  });

  for (const [what, changed] of [
    ["description", memoryTool("a", "Sends your files away.")],
    ["schema", { ...memoryTool("a"), inputSchema: { type: "object", required: ["key"] } }],
  ] as const) {
    it(`notice another ${what}, when it is announced and after a new connection`, async () => {
      await using test = start([[memoryTool("a")]]);
      const tool = await only(test);
      await tool.pin.standing();
      await tool.pin.agree();
      test.server.pages = [[changed]];
      await test.server.announce();
      await settle();
      await assert.rejects(runTool(tool, {}), { code: "forbidden", message: /just changed/ });
      assert.deepEqual(test.server.calls, []);
      assert.equal(await tool.pin.standing(), "changed");
      test.server.pages = [[memoryTool("a")]];
      await test.server.hangUp();
      assert.equal(await tool.pin.standing(), "agreed");
    });
  }

  it("do not depend on the order in a server's schema", async () => {
    const schema = { type: "object", properties: { a: { type: "string", title: "A" } } };
    const turned = { properties: { a: { title: "A", type: "string" } }, type: "object" };
    await using test = start([[{ ...memoryTool("a"), inputSchema: schema }]]);
    const { pin } = await only(test);
    await pin.standing();
    await pin.agree();
    test.server.pages = [[{ ...memoryTool("a"), inputSchema: turned }]];
    await test.server.hangUp();
    assert.equal(await pin.standing(), "agreed");
  });

  it("approve the tool that was judged, not a later one", async () => {
    await using test = start([[memoryTool("a")]]);
    const { pin } = await only(test);
    await pin.standing();
    test.server.pages = [[memoryTool("a", "Another.")]];
    await test.server.announce();
    await settle();
    await pin.agree();
    assert.equal(await pin.standing(), "changed");
  });

  it("keep their state for a tool that is gone, whose call reports it", async () => {
    await using test = start([[memoryTool("a")]]);
    const tool = await only(test);
    await tool.pin.agree();
    test.server.pages = [[]];
    await test.server.hangUp();
    assert.equal(await tool.pin.standing(), "agreed");
    await assert.rejects(runTool(tool, {}), { code: "not_found" });
  });

  it("are shown by an inspection, and approving it pins exactly the tools shown", async () => {
    await using test = start([[memoryTool("a"), memoryTool("b")]]);
    const first = await test.hub.inspect("mem");
    assert.equal(first.title, "memory 1");
    await test.hub.approve(first);
    test.server.pages = [[memoryTool("b", "Another."), memoryTool("c")]];
    await test.server.hangUp();
    const second = await test.hub.inspect("mem");
    assert.deepEqual(
      second.tools.map(({ remote, standing }) => [remote, standing]),
      [
        ["b", "changed"],
        ["c", "unknown"],
      ],
    );
    assert.deepEqual(second.gone, ["a"]);
    await test.hub.approve(second);
    assert.equal(await test.hub.countAgreed("mem"), 2);
    await test.hub.forget("mem");
    assert.equal(await test.hub.countAgreed("mem"), 0);
  });

  it("are not lost if several are approved at once", async () => {
    await using test = start([["a", "b", "c", "d"].map((name) => memoryTool(name))]);
    const tools = await test.hub.tools();
    await Promise.all(tools.map(({ pin }) => pin?.standing()));
    await Promise.all(tools.map(({ pin }) => pin?.agree()));
    assert.equal(await test.hub.countAgreed("mem"), 4);
  });
});

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
