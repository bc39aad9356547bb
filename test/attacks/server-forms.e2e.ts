/** Uploads that attack: names, boundaries, floods of parts. The stored file is the sent one, and no more. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertRefused,
  FORM,
  filePart,
  idOf,
  PURPOSE,
  type Refusal,
  startAttacked,
  toForm,
  uploadFile,
} from "./server-attack-fixture.ts";

/** The sent name, and the stored one; undefined if it is refused. */
const NAMES: readonly (readonly [string, string | undefined])[] = [
  ["../../etc/passwd", "passwd"],
  ["/etc/passwd", "passwd"],
  ["..", "file"],
  [".", "file"],
  ["", undefined],
  ["a/..", "file"],
  ["C:\\\\Windows\\\\system.ini", "system.ini"],
  ["..\\\\..\\\\x", "x"],
  ["%2e%2e%2fx", "%2e%2e%2fx"],
  ["-rf", "-rf"],
  ["\u202egnp.exe", "\u202egnp.exe"],
  ["a".repeat(5000), "a".repeat(255)],
  ["\u{1f600}".repeat(300), "\u{1f600}".repeat(127)],
  ['x\\"; y=\\"z', 'x"; y="z'],
  ["it's (a) *star*!.txt", "it's (a) *star*!.txt"],
  ["a\0b", undefined],
  ["\u001b[31m.txt", undefined],
  ["a\r\nset-cookie: b", undefined],
];

const many = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `name="f${at}"\r\n\r\nx`);
const invalid = (param?: string): Refusal => ({ status: 400, code: "invalid_request", param });

const BROKEN: Readonly<Record<string, readonly [body: string, refusal: Refusal, type?: string]>> = {
  "no boundary": [toForm([PURPOSE, filePart("a")]), invalid(), "multipart/form-data"],
  "an empty boundary": [toForm([PURPOSE]), invalid(), "multipart/form-data; boundary="],
  "no form": ['{"file":"x"}', invalid(), "application/json"],
  "no type": ["x", invalid(), ""],
  "a form of a page": [
    "file=x&purpose=user_data",
    invalid("file"),
    "application/x-www-form-urlencoded",
  ],
  "no end": [`--cut\r\ncontent-disposition: form-data; ${PURPOSE}\r\n`, invalid()],
  "no body": ["", invalid()],
  "another boundary": [toForm([PURPOSE, filePart("a")], "other"), invalid()],
  "no file": [toForm([PURPOSE]), invalid("file")],
  "a file that is a field": [toForm([PURPOSE, 'name="file"\r\n\r\nx']), invalid("file")],
  "no purpose": [toForm([filePart("a")]), invalid("purpose")],
  "an unknown purpose": [toForm(['name="purpose"\r\n\r\nevil', filePart("a")]), invalid("purpose")],
  "a purpose of 200 KB": [
    toForm([`name="purpose"\r\n\r\n${"u".repeat(200_000)}`, filePart("a")]),
    invalid("purpose"),
  ],
  "an invalid time": [
    toForm([
      PURPOSE,
      'name="expires_after[seconds]"\r\n\r\n-1',
      'name="expires_after[anchor]"\r\n\r\ncreated_at',
      filePart("a"),
    ]),
    invalid("expires_after.seconds"),
  ],
  "a head of 200 KB": [toForm([PURPOSE, filePart("a".repeat(200_000))]), invalid()],
  "100,000 heads": [`--cut\r\n${"x: y\r\n".repeat(100_000)}\r\nx\r\n--cut--\r\n`, invalid()],
  "300,000 parts before the file": [
    toForm([...many(300_000), PURPOSE, filePart("a")]),
    invalid("file"),
  ],
};

describe("names of uploaded files", () => {
  it("lead nowhere, and into no header", async (t) => {
    const server = await startAttacked(t);
    for (const [sent, kept] of NAMES) {
      const body = toForm([PURPOSE, filePart(sent)]);
      const made = await server.send({ path: "/v1/files", headers: FORM, body });
      if (kept === undefined) {
        assertRefused(made, invalid(), sent);
        continue;
      }
      const { id, filename } = JSON.parse(made.text) as { id: string; filename: string };
      assert.equal(filename, kept, made.text);
      const { status, headers } = await server.send({
        method: "GET",
        path: `/v1/files/${id}/content`,
      });
      assert.equal(status, 200);
      const shown = `attachment; filename*=UTF-8''${encodeURIComponent(kept)}`;
      assert.equal(headers["content-disposition"], shown);
      assert.equal(headers["x-content-type-options"], "nosniff");
      assert.equal(headers["set-cookie"], undefined);
    }
    await server.isWell();
  });

  it("lead nowhere in a container either", async (t) => {
    const server = await startAttacked(t);
    const container = idOf(await server.send({ path: "/v1/containers", body: { name: "c" } }));
    const path = `/v1/containers/${container}/files`;
    for (const [sent, kept] of NAMES) {
      const made = await server.send({ path, headers: FORM, body: toForm([filePart(sent)]) });
      if (kept === undefined) assertRefused(made, invalid(), sent);
      else assert.equal((JSON.parse(made.text) as { path: string }).path, `/mnt/data/${kept}`);
    }
    await server.isWell();
  });

  it("do not make a page of a download", async (t) => {
    const server = await startAttacked(t);
    const page = "<script>alert(1)</script>";
    for (const name of ["page.html", "picture.svg", "code.js"]) {
      const id = await uploadFile(server.send, page, name);
      const { headers, text } = await server.send({
        method: "GET",
        path: `/v1/files/${id}/content`,
      });
      assert.equal(text, page);
      assert.match(String(headers["content-disposition"]), /^attachment;/);
      assert.equal(headers["x-content-type-options"], "nosniff");
    }
  });
});

describe("broken forms", () => {
  it("are refused, and leave nothing", async (t) => {
    const server = await startAttacked(t);
    for (const [name, [body, wanted, type = FORM["content-type"]]] of Object.entries(BROKEN)) {
      const headers = type === "" ? {} : { "content-type": type };
      assertRefused(await server.send({ path: "/v1/files", headers, body }), wanted, name);
    }
    const { text } = await server.send({ method: "GET", path: "/v1/files" });
    assert.deepEqual((JSON.parse(text) as { data: unknown[] }).data, []);
    await server.isWell();
  });

  it("keep the first file and its fields, whatever follows", async (t) => {
    const server = await startAttacked(t);
    const proto = ['name="__proto__"\r\n\r\npolluted', 'name="constructor"\r\n\r\nx'];
    const body = toForm([
      ...proto,
      PURPOSE,
      filePart("a", "first"),
      filePart("b", "second"),
      ...many(1000),
    ]);
    const id = idOf(await server.send({ path: "/v1/files", headers: FORM, body }));
    const { text } = await server.send({ method: "GET", path: `/v1/files/${id}/content` });
    assert.equal(text, "first");
    await server.isWell();
  });
});
