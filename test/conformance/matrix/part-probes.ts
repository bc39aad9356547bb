/** Every part of a message's content, in each of its forms. */

import type { JsonObject } from "../../../src/base/json.ts";
import { createPdf } from "../pdf.ts";
import type { Probe, World } from "./probe.ts";
import { ARRIVED, isRead, MARK } from "./words.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PDF = createPdf("zebra zebra");
const WAV = Buffer.from("RIFF$   WAVEfmt ").toString("base64");
const TEXT = Buffer.from(MARK).toString("base64");

const asked = (...parts: readonly JsonObject[]): JsonObject => ({
  input: [{ role: "user", content: [{ type: "input_text", text: "What is it?" }, ...parts] }],
});

const answered = (...content: readonly JsonObject[]): JsonObject => ({
  input: [
    { role: "user", content: "Hello" },
    { type: "message", role: "assistant", content: [...content] },
    { role: "user", content: "Go on." },
  ],
});

/** The embedded model reports what it could not read. */
const seen = ({ output_text }: { readonly output_text: string }, { upstream }: World): boolean =>
  upstream === undefined && !output_text.includes("have not seen");

const bytes = (found: string): RegExp => new RegExp(found.slice(0, 24).replaceAll("+", "\\+"));

async function upload({ server }: World, name: string, content: Buffer): Promise<string> {
  const form = new FormData();
  form.append("purpose", "user_data");
  form.append("file", new Blob([content]), name);
  const answer = await fetch(`${server.url}/v1/files`, { method: "POST", body: form });
  return ((await answer.json()) as { id: string }).id;
}

/** The text itself, or its bytes. */
const SHOWN_TEXT = new RegExp(`${ARRIVED.source}|${bytes(TEXT).source}`);

const NAME = /input_image|input_file|input_audio|input\[0\]/;

export const PART_PROBES: Readonly<Record<string, Probe>> = {
  input_text: {
    body: asked({ type: "input_text", text: MARK }),
    name: NAME,
    sent: ARRIVED,
    shown: isRead("yes"),
  },
  "input_image (data)": {
    body: asked({ type: "input_image", image_url: `data:image/png;base64,${PNG}` }),
    name: NAME,
    sent: bytes(PNG),
    shown: seen,
  },
  "input_image (address)": {
    body: async ({ media }) => asked({ type: "input_image", image_url: `${media}/zebra.png` }),
    name: NAME,
    sent: /\/zebra\.png/,
    bridged: bytes(PNG),
    shown: seen,
  },
  "input_image (file)": {
    body: async (world) => {
      const file_id = await upload(world, "a.png", Buffer.from(PNG, "base64"));
      return asked({ type: "input_image", file_id });
    },
    name: NAME,
    sent: bytes(PNG),
    shown: seen,
  },
  "input_file (data, PDF)": {
    body: asked({
      type: "input_file",
      filename: "a.pdf",
      file_data: `data:application/pdf;base64,${PDF}`,
    }),
    name: NAME,
    sent: bytes(PDF),
    bridged: ARRIVED,
    shown: seen,
  },
  "input_file (data, text)": {
    body: asked({
      type: "input_file",
      filename: "a.txt",
      file_data: `data:text/plain;base64,${TEXT}`,
    }),
    name: NAME,
    sent: bytes(TEXT),
    bridged: ARRIVED,
    shown: seen,
  },
  "input_file (address)": {
    body: async ({ media }) => asked({ type: "input_file", file_url: `${media}/zebra.txt` }),
    name: NAME,
    sent: /\/zebra\.txt/,
    bridged: SHOWN_TEXT,
    shown: seen,
  },
  "input_file (file)": {
    body: async (world) => {
      const file_id = await upload(world, "a.txt", Buffer.from(MARK));
      return asked({ type: "input_file", file_id });
    },
    name: NAME,
    sent: bytes(TEXT),
    bridged: ARRIVED,
    shown: seen,
  },
  input_audio: {
    body: asked({ type: "input_audio", input_audio: { data: WAV, format: "wav" } }),
    name: NAME,
    sent: bytes(WAV),
    shown: seen,
  },
  output_text: {
    body: answered({ type: "output_text", text: MARK, annotations: [] }),
    name: NAME,
    sent: ARRIVED,
    shown: isRead("yes"),
  },
  refusal: {
    body: answered({ type: "refusal", refusal: MARK }),
    name: NAME,
    sent: ARRIVED,
    shown: seen,
  },
};

/** The files at the addresses. */
export const MEDIA: Readonly<Record<string, { readonly type: string; readonly body: Buffer }>> = {
  "/zebra.png": { type: "image/png", body: Buffer.from(PNG, "base64") },
  "/zebra.txt": { type: "text/plain", body: Buffer.from(MARK) },
};
