import assert from "node:assert/strict";
import { createReadStream, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { describe, it } from "node:test";
import OpenAI, { toFile } from "openai";
import { reply, script } from "../../../src/testing/index.ts";
import { checkPublished } from "../../conformance/check.ts";
import { startServer, type TestServer } from "../../server/server-fixture.ts";
import { newDatabasePath } from "../../store/database-path.ts";

function toClient({ url }: TestServer): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
}

async function post(server: TestServer, form: FormData | string, type?: string) {
  const headers: Record<string, string> = type ? { "content-type": type } : {};
  const answer = await fetch(`${server.url}/v1/files`, { method: "POST", body: form, headers });
  const body = (await answer.json()) as { error?: { param: string | null; code: string } };
  return { status: answer.status, error: body.error };
}

function toForm(fields: readonly (readonly [string, string | Blob])[]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, "a.txt");
  }
  return form;
}

describe("files over HTTP", () => {
  it("are uploaded, listed, downloaded and deleted by the official client", async (t) => {
    const server = await startServer(t, script(reply.text("Hi")));
    const client = toClient(server);
    const path = join(server.root, "größe.md");
    writeFileSync(path, "# Größe\n".repeat(200_000));
    const made = await client.files.create({
      file: createReadStream(path),
      purpose: "assistants",
      expires_after: { anchor: "created_at", seconds: 3600 },
    });
    checkPublished("OpenAIFile", made);
    assert.deepEqual([made.filename, made.purpose], ["größe.md", "assistants"]);
    assert.equal(made.expires_at, made.created_at + 3600);
    // The fields before the file, this time.
    const second = await client.files.create({
      purpose: "user_data",
      file: await toFile(Buffer.from("<script>1</script>"), "../x.html"),
    });
    assert.equal(second.filename, "x.html");
    const listed = await client.files.list({ purpose: "assistants" });
    assert.deepEqual(
      listed.data.map(({ id }) => id),
      [made.id],
    );
    const content = await client.files.content(made.id);
    assert.equal(await content.text(), "# Größe\n".repeat(200_000));
    const page = await client.files.content(second.id);
    assert.match(page.headers.get("content-disposition") ?? "", /^attachment;/);
    assert.equal(page.headers.get("x-content-type-options"), "nosniff");
    assert.deepEqual(await client.files.delete(made.id), {
      id: made.id,
      object: "file",
      deleted: true,
    });
    await assert.rejects(client.files.retrieve(made.id), { status: 404 });
    await assert.rejects(client.files.content(made.id), { status: 404 });
  });

  it("are refused, with nothing left, if the form is invalid", async (t) => {
    const server = await startServer(t, script(reply.text("Hi")));
    const file = new Blob(["Hello"]);
    const wrong: readonly (readonly [FormData | string, string | null, string?])[] = [
      [toForm([["file", file]]), "purpose"],
      [
        toForm([
          ["file", file],
          ["purpose", "fun"],
        ]),
        "purpose",
      ],
      [
        toForm([
          ["purpose", "vision"],
          ["file", file],
          ["expires_after[anchor]", "created_at"],
          ["expires_after[seconds]", "1"],
        ]),
        "expires_after.seconds",
      ],
      [toForm([["purpose", "vision"]]), "file"],
      ["{}", null, "application/json"],
      ["--x\r\nnothing", null, "multipart/form-data; boundary=x"],
      ["", null, "multipart/form-data"],
    ];
    for (const [form, param, type] of wrong) {
      const { status, error } = await post(server, form, type);
      assert.deepEqual([status, error?.param, error?.code], [400, param, "invalid_request"]);
    }
    assert.deepEqual((await toClient(server).files.list()).data, []);
  });

  it("leave nothing if the client disconnects in the middle", async (t) => {
    const server = await startServer(t, script(reply.text("Hi")));
    const sending = httpRequest(`${server.url}/v1/files`, {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=x" },
    });
    sending.on("error", () => {});
    const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
    await new Promise((resolve) => sending.write(`${head}${"x".repeat(3_000_000)}`, resolve));
    sending.destroy();
    const { shelf } = server.responses;
    const among = { tenant: "tenant", kind: "file", order: "oldest", limit: 10 } as const;
    // It is stored when it begins, and removed when the server notices the end.
    while ((await shelf.list(among)).length > 0) await new Promise((next) => setImmediate(next));
    assert.equal((await server.ask("GET", "/v1/files")).status, 200);
  });

  it("belong to one tenant", async (t) => {
    const storePath = newDatabasePath();
    const server = await startServer(t, script(reply.text("Hi")), { storePath });
    const { id } = await toClient(server).files.create({
      file: await toFile(Buffer.from("x"), "a.txt"),
      purpose: "user_data",
    });
    const other = { storePath, caller: { tenant: "other" } };
    const neighbour = await startServer(t, script(reply.text("Hi")), other);
    for (const path of [`/v1/files/${id}`, `/v1/files/${id}/content`]) {
      assert.equal((await neighbour.ask("GET", path)).status, 404);
    }
    assert.equal((await neighbour.ask("DELETE", `/v1/files/${id}`)).status, 404);
    assert.equal((await server.ask("GET", `/v1/files/${id}`)).status, 200);
  });
});
