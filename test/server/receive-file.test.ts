import assert from "node:assert/strict";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { Failure, toFailure } from "../../src/base/failure.ts";
import {
  type ReceivedFile,
  type ReceiveLimits,
  receiveFile,
} from "../../src/server/receive-file.ts";
import { PATIENCE_MS } from "../patience.ts";

const HEAD = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
const FORM = "multipart/form-data; boundary=x";

interface Received {
  /** Sends pieces of a form; the last one ends it, unless it is to stay open. */
  send(
    pieces: readonly string[],
    more?: { readonly length?: number; readonly open?: boolean },
  ): void;
  /** What came of the form: what `keep` gave, or the failure. */
  readonly outcome: Promise<unknown>;
}

async function start(
  t: TestContext,
  limits: ReceiveLimits,
  keep: (file: ReceivedFile) => Promise<unknown> = readAll,
): Promise<Received> {
  let settle: (value: unknown) => void = () => {};
  const outcome = new Promise<unknown>((resolve) => {
    settle = resolve;
  });
  const server = createServer((request, response) => {
    receiveFile(request, limits, keep)
      .catch((thrown: unknown) => toFailure(thrown))
      .then((value) => {
        settle(value);
        response.writeHead(200, { connection: "close" }).end();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    outcome,
    send(pieces, { length, open } = {}) {
      const headers = { "content-type": FORM, ...(length ? { "content-length": length } : {}) };
      const sending = httpRequest({ host: "127.0.0.1", port, method: "POST", headers });
      sending.on("error", () => {});
      for (const piece of pieces) sending.write(piece);
      if (!open) sending.end();
    },
  };
}

async function readAll({ bytes, fields, filename }: ReceivedFile): Promise<unknown> {
  let size = 0;
  for await (const piece of bytes) size += piece.length;
  return { filename, size, fields: await fields() };
}

const LIMITS: ReceiveLimits = { maxBytes: 1000, idleMs: PATIENCE_MS };

describe("a file that comes as a form", () => {
  it("is handed on with the fields before it and behind it", async (t) => {
    const { send, outcome } = await start(t, LIMITS);
    const field = (name: string): string =>
      `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${name}!\r\n`;
    send([field("one"), HEAD, "12345", "\r\n", field("two"), "--x--\r\n"]);
    const fields = { one: "one!", two: "two!" };
    assert.deepEqual(await outcome, { filename: "a", size: 5, fields });
  });

  it("is refused at once where it says that it is too large", async (t) => {
    const { send, outcome } = await start(t, LIMITS, () => assert.fail("it was kept"));
    send([HEAD], { length: 5_000_000, open: true });
    assert.equal(((await outcome) as Failure).code, "too_large");
  });

  it("is left when whoever keeps it fails, and fails as that does", async (t) => {
    const { send, outcome } = await start(t, LIMITS, async ({ bytes }) => {
      for await (const _ of bytes) throw new Failure("store_failed", "The disk is full.");
    });
    send([HEAD, "x".repeat(500_000)], { open: true });
    assert.equal(((await outcome) as Failure).code, "store_failed");
  });

  it("is not waited for without end", async (t) => {
    const { send, outcome } = await start(t, { ...LIMITS, idleMs: 30 });
    send([HEAD, "12"], { open: true });
    assert.equal(((await outcome) as Failure).code, "slow_request");
  });

  it("is broken where the form ends in the middle", async (t) => {
    const { send, outcome } = await start(t, LIMITS);
    send([HEAD, "12"]);
    const failure = (await outcome) as Failure;
    assert.deepEqual(
      [failure.code, failure.message],
      ["invalid_request", "The form is broken: Unexpected end of form."],
    );
  });
});
