import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { InputFile } from "../../../src/protocol/content.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { encodeBody } from "../../../src/providers/bedrock/encode.ts";
import { request } from "../provider-contract.ts";

const model = "us.amazon.nova-2-lite-v1:0";

function blockOf(file: Omit<InputFile, "type">): unknown {
  const part: InputFile = { type: "input_file", ...file };
  const item: Item = { type: "message", role: "user", content: [part] };
  return encodeBody(request({ model, items: [item] })).messages[0]?.content[0];
}

/** A file, and the video that is sent to Converse. */
const VIDEOS: readonly (readonly [string, Omit<InputFile, "type">, object])[] = [
  [
    "data",
    { file_data: "data:video/mp4;base64,AAAA" },
    { format: "mp4", source: { bytes: "AAAA" } },
  ],
  [
    "data of another type",
    { file_data: "data:video/quicktime;base64,AAAA" },
    { format: "mov", source: { bytes: "AAAA" } },
  ],
  [
    "a place in S3",
    { file_url: "s3://bucket/clip.3gp" },
    { format: "three_gp", source: { s3Location: { uri: "s3://bucket/clip.3gp" } } },
  ],
  [
    "bytes with a name",
    { file_data: "AAAA", filename: "clip.webm" },
    { format: "webm", source: { bytes: "AAAA" } },
  ],
];

describe("videos for Nova", () => {
  for (const [name, file, video] of VIDEOS) {
    it(`are sent as videos: ${name}`, () => assert.deepEqual(blockOf(file), { video }));
  }

  it("are not confused with documents", () => {
    const block = blockOf({ file_url: "s3://bucket/a.pdf" }) as object;
    assert.ok("document" in block);
  });
});
