import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { describe, it } from "node:test";
import { JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";
import {
  createStdioTransport,
  type StdioTransport,
} from "../../../../src/tools/mcp/session/stdio-transport.ts";
import { LINUX_LACK, programLack, unless } from "../../../needs.ts";
import { untilTrue } from "../../../patience.ts";
import { countProcesses } from "../../sandbox/test-sandbox.ts";

const linux = unless(LINUX_LACK ?? programLack("setsid"));

/** The words of a process follow each other with a zero after each. */
function countSleepers(seconds: string): number {
  return countProcesses(["sleep", seconds, ""].join("\u0000"));
}

/** A server that starts a child in a session of its own, reports that it is up, and does `then`. */
async function open(
  seconds: string,
  then: string,
): Promise<{ readonly transport: StdioTransport; readonly closed: Promise<void> }> {
  const up = '{"jsonrpc":"2.0","method":"up"}';
  const script = `setsid sleep ${seconds} > /dev/null 2>&1 < /dev/null & read line; echo '${up}'; ${then}`;
  const transport = createStdioTransport({
    command: "/bin/sh",
    args: ["-c", script],
    cwd: tmpdir(),
    maxBytes: 1000,
    env: { PATH: process.env["PATH"] ?? "" },
    toMessage: (value) => JSONRPCMessageSchema.parse(value),
  });
  const isUp = new Promise<void>((resolve) => {
    transport.onmessage = () => resolve();
  });
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  await untilTrue(() => countSleepers(seconds) === 1, "the server's child");
  await transport.send({ jsonrpc: "2.0", method: "go" });
  await isUp;
  return { transport, closed };
}

describe("a program that an MCP server started in a session of its own", () => {
  const rows: readonly [why: string, then: string][] = [
    ["its input ends", "cat > /dev/null"],
    ["it is told to", "exec sleep 8641"],
    ["it must be killed", "trap '' TERM; while :; do sleep 8642; done"],
  ];
  for (const [index, [why, then]] of rows.entries()) {
    it(...linux(`ends with a server that leaves when ${why}`), async () => {
      const seconds = String(864_100 + index);
      const { transport } = await open(seconds, then);
      await transport.close();
      assert.equal(countSleepers(seconds), 0);
    });
  }

  it(...linux("ends with a server that leaves by itself"), async () => {
    const { transport, closed } = await open("864110", "exit 3");
    await closed;
    assert.equal(countSleepers("864110"), 0);
    await transport.close();
  });
});
