import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { answerBrokenRequest } from "../../../src/server/guard/broken-request.ts";
import { whenClosed } from "../../closing.ts";

/** The server's answer to these bytes, until it closes the connection. */
async function say(t: TestContext, text: string): Promise<string> {
  const server = createServer((_, response) => response.end("fine"));
  server.on("clientError", answerBrokenRequest);
  server.listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (piece: string) => {
    answer += piece;
  });
  // Bytes that the server no longer reads reset the connection; the answer was there before.
  socket.on("error", () => {});
  socket.write(text);
  await whenClosed(socket);
  return answer;
}

const CASES: Readonly<Record<string, readonly [string, number, string]>> = {
  "no HTTP at all": ["\u0016\u0003\u0001 hello\r\n\r\n", 400, "invalid_request"],
  "a NUL in a header": [
    "GET / HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a\0b\r\n\r\n",
    400,
    "invalid_request",
  ],
  "two lengths": [
    "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    400,
    "invalid_request",
  ],
  "100 KB of headers": [
    `GET / HTTP/1.1\r\nhost: a\r\nx: ${"x".repeat(100_000)}\r\n\r\n`,
    431,
    "too_large",
  ],
};

describe("an invalid request", () => {
  for (const [name, [text, status, code]] of Object.entries(CASES)) {
    it(`is answered in the API's form: ${name}`, async (t) => {
      const [head = "", body = ""] = (await say(t, text)).split("\r\n\r\n");
      assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(head, /^x-request-id: req_\w+$/m);
      const { error } = JSON.parse(body) as { error: Record<string, unknown> };
      assert.equal(error["code"], code);
      assert.deepEqual(Object.keys(error), ["message", "type", "param", "code"]);
    });
  }
});
