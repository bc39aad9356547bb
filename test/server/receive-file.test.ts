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
  /** The client goes away. */
  leave(): void;
  /** Resolves when the server knows that the client has gone. */
  readonly left: Promise<void>;
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
  let tellLeft = (): void => {};
  const left = new Promise<void>((resolve) => {
    tellLeft = resolve;
  });
  let leave = (): void => {};
  const server = createServer((request, response) => {
    request.once("close", tellLeft);
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
    left,
    leave: () => leave(),
    send(pieces, { length, open } = {}) {
      const headers = { "content-type": FORM, ...(length ? { "content-length": length } : {}) };
      const sending = httpRequest({ host: "127.0.0.1", port, method: "POST", headers });
      sending.on("error", () => {});
      for (const piece of pieces) sending.write(piece);
      if (!open) sending.end();
      leave = () => void sending.destroy();
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
  it("is passed on with the fields before it and after it", async (t) => {
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

  it("is left when storing it fails, and fails with that error", async (t) => {
    const { send, outcome } = await start(t, LIMITS, async ({ bytes }) => {
      for await (const _ of bytes) throw new Failure("store_failed", "The disk is full.");
    });
    send([HEAD, "x".repeat(500_000)], { open: true });
    assert.equal(((await outcome) as Failure).code, "store_failed");
  });

  it("whose client leaves before anybody reads it fails, and harms nothing", async (t) => {
    // A store on another machine has to be asked first.
    const upload: Received = await start(t, LIMITS, async (file) => {
      upload.leave();
      await upload.left;
      return await readAll(file);
    });
    upload.send([HEAD, "12"], { open: true });
    assert.equal(((await upload.outcome) as Failure).code, "cancelled");
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
