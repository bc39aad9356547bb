import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { makeId } from "../../src/base/ids.ts";
import { createFile } from "../../src/responses/files/files.ts";
import { reply, respond, script } from "../../src/testing/index.ts";
import { checkError } from "../conformance/check.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const TENANT = "tenant";

async function upload(server: TestServer, filename: string, bytes: Uint8Array): Promise<string> {
  const { shelf } = server.responses;
  const parts = { shelf, clock: systemClock, makeId };
  const asked = { filename, purpose: "user_data", expiresAfterMs: undefined };
  async function* source(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  const made = await createFile(parts, TENANT, asked, { bytes: source(), maxBytes: 1_000_000 });
  return made.id;
}

/** A server of pictures in place of a public one. */
async function startPictures(t: TestContext): Promise<{ port: number; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    if (request.url === "/away") {
      response.writeHead(302, { location: "http://127.0.0.1/secret" }).end();
    } else if (request.url === "/page.png") {
      response.end("<html>no picture</html>");
    } else if (request.url === "/large.png") {
      response.end(Buffer.concat([PNG, Buffer.alloc(5000)]));
    } else {
      response.end(request.url?.endsWith(".txt") ? "Some text." : PNG);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, paths };
}

function show(part: object, ...others: object[]): object {
  return { input: [{ role: "user", content: [part, ...others] }] };
}

function toldParts(server: TestServer): unknown {
  const body = server.upstream.requests.at(-1)?.body as unknown as {
    readonly messages: readonly { readonly content: unknown }[];
  };
  return body.messages.at(-1)?.content;
}

const PNG_URL = `data:image/png;base64,${PNG.toString("base64")}`;

describe("files in a request", () => {
  it("reach the model with their data, and stay ids in the record", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.")),
    );
    const picture = await upload(server, "cat.png", PNG);
    const notes = await upload(server, "notes.txt", Buffer.from("Some text."));
    const made = await server.create(
      show({ type: "input_image", file_id: picture }, { type: "input_file", file_id: notes }),
    );
    assert.deepEqual(toldParts(server), [
      { type: "image_url", image_url: { url: PNG_URL } },
      { type: "text", text: '<file name="notes.txt">\nSome text.\n</file>' },
    ]);
    const { body } = await server.ask("GET", `/v1/responses/${made.id}/input_items`);
    assert.match(JSON.stringify(body), new RegExp(picture));
    assert.doesNotMatch(JSON.stringify(body), /Some text|base64/);
  });

  it("reach it from a function's output, too", async (t) => {
    const server = await startServer(t, script(reply.text("Ok.")));
    const picture = await upload(server, "cat.png", PNG);
    const output = [{ type: "input_image", file_id: picture }];
    await server.create({
      input: [
        { type: "function_call", call_id: "1", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "1", output },
      ],
    });
    assert.match(JSON.stringify(server.upstream.requests.at(-1)?.body), /data:image\/png/);
  });

  it("are refused by their place where the tenant has none", async (t) => {
    const server = await startServer(t, script());
    const asked = show(
      { type: "input_text", text: "x" },
      { type: "input_file", file_id: "file-1" },
    );
    const { status, body } = await server.ask("POST", "/v1/responses", asked);
    const { param } = (body as { error: { param: string } }).error;
    assert.deepEqual([status, param], [400, "input[0].content[1].file_id"]);
  });
});

describe("addresses in a request", () => {
  it("are fetched for a server of the operator's own", async (t) => {
    const { port, paths } = await startPictures(t);
    const web = {
      resolve: async () => ["93.184.216.34"],
      dial: () => ({ host: "127.0.0.1", port }),
    };
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.")),
      { settings: { web } },
    );
    await server.create(
      show(
        { type: "input_image", image_url: "http://pictures.example/cat.png" },
        { type: "input_file", file_url: "http://pictures.example/notes.txt" },
      ),
    );
    assert.deepEqual(toldParts(server), [
      { type: "image_url", image_url: { url: PNG_URL } },
      { type: "text", text: '<file name="notes.txt">\nSome text.\n</file>' },
    ]);
    assert.deepEqual(paths.sort(), ["/cat.png", "/notes.txt"]);
  });

  it("are refused where they are private, in whatever spelling, and nothing is asked", async (t) => {
    const server = await startServer(t, script());
    const addresses = [
      "http://127.0.0.1/a.png",
      "http://localhost:8080/a.png",
      "http://169.254.169.254/latest/meta-data",
      "http://[::1]/a.png",
      "http://2130706433/a.png",
      "http://0x7f.1/a.png",
      "http://10.0.0.1/a.png",
      "http://[::ffff:10.0.0.1]/a.png",
      "http://metadata.google.internal/a.png",
      "http://me:secret@example.org/a.png",
      "file:///etc/passwd",
      "gs://bucket/a.png",
      "ftp://example.org/a.png",
      "no-address",
    ];
    for (const url of addresses) {
      for (const part of [
        { type: "input_image", image_url: url },
        { type: "input_file", file_url: url },
      ]) {
        const { status, body } = await server.ask("POST", "/v1/responses", show(part));
        const { param } = (body as { error: { param: string } }).error;
        assert.equal(status, 400, url);
        assert.match(param, /^input\[0\]\.content\[0\]\.(image|file)_url$/);
      }
    }
    assert.equal(server.upstream.requests.length, 0);
  });

  it("are refused as the mask of a picture to be drawn, too", async (t) => {
    const server = await startServer(t, script(), {});
    for (const [input_image_mask, field] of [
      [{ image_url: "http://169.254.169.254/latest" }, "image_url"],
      [{ image_url: "http://localhost/mask.png" }, "image_url"],
      [{ image_url: "file:///etc/passwd" }, "image_url"],
      [{ file_id: "file-nobodys" }, "file_id"],
    ] as const) {
      const tools = [{ type: "web_search" }, { type: "image_generation", input_image_mask }];
      const answer = await server.ask("POST", "/v1/responses", { input: "Draw.", tools });
      const param = `tools[1].input_image_mask.${field}`;
      checkError(answer, { status: 400, code: "invalid_request", param });
    }
    assert.equal(server.upstream.requests.length, 0);
  });

  it("are refused where a name or a redirect leads to a private one, or the content is not an image", async (t) => {
    const { port, paths } = await startPictures(t);
    const web = {
      resolve: async (host: string) => [host.startsWith("inside") ? "10.0.0.7" : "93.184.216.34"],
      dial: () => ({ host: "127.0.0.1", port }),
      maxImageBytes: 1000,
    };
    const server = await startServer(t, script(), { settings: { web } });
    for (const path of [
      "inside.example/cat.png",
      "pictures.example/away",
      "pictures.example/page.png",
      "pictures.example/large.png",
    ]) {
      const asked = show({ type: "input_image", image_url: `http://${path}` });
      const { status } = await server.ask("POST", "/v1/responses", asked);
      assert.equal(status, 400, path);
    }
    assert.deepEqual(paths, ["/away", "/page.png", "/large.png"]);
    assert.equal(server.upstream.requests.length, 0);
  });
});
