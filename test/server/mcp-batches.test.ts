/** Arrays of messages over standard input and output, with a server of the SDK behind them. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { createLineTransport } from "../../src/server/mcp/line-transport.ts";
import { until } from "../patience.ts";

interface Answer {
  readonly id: unknown;
  readonly result?: { readonly protocolVersion?: string };
  readonly error?: { readonly code: number; readonly message: string };
}

interface Lines {
  write(value: unknown): void;
  /** All lines that came back. */
  readonly said: readonly (Answer | Answer[])[];
  /** The names of the tools that were called. */
  readonly called: readonly string[];
  /** Answers the calls of a tool. */
  answer(tool: string): void;
}

const INITIALIZE = { method: "initialize", id: "hello" };

/** A server whose tools answer when they are told to. Without a version, nothing is agreed on. */
async function openLines(t: TestContext, protocolVersion?: string): Promise<Lines> {
  const input: string[] = [];
  let wake = (): void => {};
  async function* chunks(): AsyncGenerator<string> {
    for (;;) {
      yield* input.splice(0);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  const said: (Answer | Answer[])[] = [];
  const transport = createLineTransport({
    chunks,
    write: (text) => void said.push(JSON.parse(text)),
  });
  const called = new Map<string, () => void>();
  const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    await new Promise<void>((resolve) => called.set(params.name, resolve));
    return { content: [], protocolVersion: "2025-11-25" };
  });
  await server.connect(transport);
  t.after(() => server.close());
  const write = (value: unknown): void => {
    input.push(`${JSON.stringify(value)}\n`);
    wake();
  };
  if (protocolVersion !== undefined) {
    const clientInfo = { name: "c", version: "1" };
    const params = { protocolVersion, capabilities: {}, clientInfo };
    write({ jsonrpc: "2.0", ...INITIALIZE, params });
    await until(() => said[0], "the answer to initialize");
  }
  return {
    write,
    get said() {
      return protocolVersion === undefined ? said : said.slice(1);
    },
    get called() {
      return [...called.keys()];
    },
    answer: (tool) => called.get(tool)?.(),
  };
}

const ping = (id: unknown): object => ({ jsonrpc: "2.0", id, method: "ping" });
const call = (id: unknown, name: string): object => ({
  ...{ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: {} } },
});
const note = (method: string, params: object = {}): object => ({ jsonrpc: "2.0", method, params });

const codes = (line: Answer | Answer[] | undefined): unknown[] =>
  [line ?? assert.fail()].flat().map(({ id, error }) => [id, error?.code]);

for (const version of ["2025-03-26", "2024-11-05"]) {
  describe(`a batch in version ${version}`, () => {
    it("is answered with one array when the last of its requests is done", async (t) => {
      const lines = await openLines(t, version);
      lines.write([call(1, "slow"), ping(2), note("notifications/x"), call("1", "late")]);
      await until(() => lines.called[1], "the calls");
      lines.answer("late");
      lines.write(ping(3));
      await until(() => lines.said[0], "the ping beside it");
      assert.deepEqual(codes(lines.said[0]), [[3, undefined]]);
      lines.answer("slow");
      await until(() => lines.said[1], "the answers to the batch");
      assert.ok(Array.isArray(lines.said[1]));
      assert.deepEqual(new Set([...lines.said[1]].map(({ id }) => id)), new Set([1, 2, "1"]));
      lines.write([ping(4)]);
      await until(() => lines.said[2], "the answer to a batch of one");
      assert.deepEqual(codes(lines.said[2]), [[4, undefined]]);
      assert.ok(Array.isArray(lines.said[2]));
    });

    it("has an error for each message that is not one, and runs the others", async (t) => {
      const lines = await openLines(t, version);
      const bad = { jsonrpc: "2.0", id: 5, method: "tools/call", params: "text" };
      lines.write([7, null, [ping(9)], bad, ping(6), ping(6), { jsonrpc: "2.0", ...INITIALIZE }]);
      await until(() => lines.said[0], "the answers");
      const found = codes(lines.said[0]).map((pair) => JSON.stringify(pair));
      const wanted = [
        ...[1, 2, 3, 4].map(() => [null, -32_600]),
        ...[[5, -32_602], [6], ["hello", -32_600]],
      ];
      const text = ([id, code]: (string | number | null | undefined)[]): string =>
        JSON.stringify([id, code]);
      assert.deepEqual(found.sort(), wanted.map(text).sort());
    });

    it("waits for no request that was taken back, and is silent without requests", async (t) => {
      const lines = await openLines(t, version);
      lines.write([call(1, "slow"), ping(2)]);
      await until(() => lines.called[0], "the call");
      lines.write([note("notifications/cancelled", { requestId: 1 }), note("notifications/x")]);
      await until(() => lines.said[0], "the answers");
      assert.deepEqual(codes(lines.said[0]), [[2, undefined]]);
      lines.write(ping(3));
      await until(() => lines.said[1], "the next answer");
      assert.deepEqual(codes(lines.said[1]), [[3, undefined]]);
    });

    it("is refused whole if it is empty or has more than 20 messages", async (t) => {
      const lines = await openLines(t, version);
      lines.write([]);
      lines.write(Array.from({ length: 21 }, (_, id) => call(id, "never")));
      lines.write(Array.from({ length: 1000 }, (_, id) => call(id, "never")));
      await until(() => lines.said[22], "the errors");
      assert.deepEqual(codes(lines.said[0]), [[null, -32_600]]);
      const each = lines.said.slice(1, 22).map((line) => codes(line)[0]);
      assert.deepEqual(
        each,
        Array.from({ length: 21 }, (_, id) => [id, -32_600]),
      );
      assert.deepEqual(codes(lines.said[22]), [[null, -32_600]]);
      assert.deepEqual(lines.called, []);
    });
  });
}

for (const version of ["2025-06-18", "2025-11-25", undefined]) {
  it(`an array ${version ? `in version ${version}` : "before initialize"} is refused under the id of each of its requests, and nothing is run`, async (t) => {
    const lines = await openLines(t, version);
    lines.write([call(1, "never"), note("notifications/x"), { jsonrpc: "2.0", ...INITIALIZE }, 7]);
    await until(() => lines.said[1], "both errors");
    assert.deepEqual(lines.said.flatMap(codes), [
      [1, -32_600],
      ["hello", -32_600],
    ]);
    assert.match(JSON.stringify(lines.said[0]), /a line of its own/);
    lines.write([note("notifications/x")]);
    await until(() => lines.said[2], "the error without an id");
    assert.deepEqual(codes(lines.said[2]), [[null, -32_600]]);
    assert.deepEqual(lines.called, []);
  });
}

it("the result of a tool does not change the version that was agreed on", async (t) => {
  const lines = await openLines(t, "2025-03-26");
  lines.write(call(1, "tool"));
  await until(() => lines.called[0], "the call");
  lines.answer("tool");
  await until(() => lines.said[0], "its answer");
  lines.write([ping(2)]);
  await until(() => lines.said[1], "the answer to the batch");
  assert.deepEqual(codes(lines.said[1]), [[2, undefined]]);
});
