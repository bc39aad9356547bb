/** Pictures from a scripted images server, through the kind, the gate and the transport. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createIds } from "../../../src/base/ids.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { createTransport } from "../../../src/providers/http/transport.ts";
import { makeImage } from "../../../src/providers/images/openai-images.ts";
import { createFile } from "../../../src/responses/files/files.ts";
import { parseNewFile } from "../../../src/responses/files/new-file.ts";
import type { ImagesApi } from "../../../src/responses/images/image-tool.ts";
import { openImages } from "../../../src/responses/images/open-images.ts";
import { createImageKind } from "../../../src/responses/kinds/image-generation.ts";
import type { ToolKind } from "../../../src/responses/kinds/tool-kind.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import type { Upstream } from "../../../src/testing/loopback.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";
import { reply } from "../../../src/testing/reply.ts";
import { pictureOf, startImagesUpstream } from "../../runtime/images-upstream.ts";
import { streamOf } from "../../store/shelf-contract.ts";
import { callsIn, type KindRun, type KindSetup, runKinds, typesOf } from "./kind-run.ts";

const DONE = reply.text("There it is.");
const draw = (input: object) =>
  reply.calls([{ name: "image_generation", arguments: JSON.stringify(input) }]);

interface Drawing extends AsyncDisposable {
  readonly upstream: Upstream;
  readonly kind: ToolKind;
  readonly parts: ReturnType<typeof createParts>;
  run(setup: Partial<KindSetup>): Promise<KindRun>;
}

function createParts() {
  const clock = createManualClock(1_790_000_000_000);
  return { shelf: createMemoryShelf(), clock, makeId: createIds(clock) };
}

async function startDrawing(model = "gpt-image-1", key = "sk-images"): Promise<Drawing> {
  const upstream = await startImagesUpstream({ key: "sk-images" });
  const transport = createTransport({});
  const { url } = upstream;
  const api: ImagesApi = {
    host: "127.0.0.1",
    make: (body, asking) => makeImage({ transport, url, model, key }, body, asking),
  };
  const parts = createParts();
  const open = (...asked: [never, never]) => openImages({ ...parts, api }, ...asked);
  const kind = createImageKind({ open: open as never });
  const tools = [{ type: "image_generation" }];
  return {
    upstream,
    kind,
    parts,
    run: (setup) => runKinds({ kinds: [kind], tools, replies: [], ...setup }),
    async [Symbol.asyncDispose]() {
      await transport.close();
      await upstream.close();
    },
  };
}

describe("image_generation", () => {
  it("draws with the request's settings, and shows the picture", async () => {
    await using drawing = await startDrawing();
    const tools = [{ type: "image_generation", size: "1024x1024", quality: "high" }];
    const { response, requests, ...run } = await drawing.run({
      tools,
      replies: [draw({ prompt: "A cat" }), DONE],
    });
    assert.deepEqual(
      drawing.upstream.requests.map(({ body, path }) => ({ body, path })),
      [
        {
          path: "/v1/images/generations",
          body: { prompt: "A cat", size: "1024x1024", quality: "high", model: "gpt-image-1", n: 1 },
        },
      ],
    );
    const [call] = response.output;
    assert.ok(call?.type === "image_generation_call");
    assert.equal(call.result, pictureOf("generation A cat"));
    assert.deepEqual([call.status, call.revised_prompt], ["completed", "A cat, in detail"]);
    assert.deepEqual(typesOf(run).slice(0, 5), [
      "output_item.added",
      "image_generation_call.in_progress",
      "image_generation_call.generating",
      "image_generation_call.completed",
      "output_item.done",
    ]);
    const completed = run.events.find(({ type }) => String(type).endsWith("call.completed"));
    assert.equal((completed as { result?: string } | undefined)?.result, call.result);
    const [, answered] = callsIn(requests[1]);
    assert.ok(answered?.type === "function_call_output");
    assert.match(String(answered.output), /shown to the user/);
  });

  it("shows pictures on the way", async () => {
    await using drawing = await startDrawing();
    const tools = [{ type: "image_generation", partial_images: 2 }];
    const replies = [draw({ prompt: "A dog" }), DONE];
    const { events } = await drawing.run({ tools, replies });
    const partial = events.flatMap((event) =>
      String(event.type).endsWith("partial_image")
        ? [event as unknown as { [name: string]: unknown }]
        : [],
    );
    assert.deepEqual(
      partial.map((event) => [event["partial_image_index"], event["partial_image_b64"]]),
      [
        [0, pictureOf("generation 0")],
        [1, pictureOf("generation 1")],
      ],
    );
  });

  it("changes the conversation's pictures: those of users, of files, and drawn ones", async () => {
    await using drawing = await startDrawing();
    const { parts, upstream } = drawing;
    const asked = parseNewFile("a.png", { purpose: "vision" });
    const bytes = streamOf(Buffer.from(pictureOf("file"), "base64"));
    const { id: file_id } = await createFile(parts, "t", asked, { bytes, maxBytes: 1000 });
    const content = [{ type: "input_image", image_url: "data:image/png;base64,AA" }];
    const items = [
      { type: "image_generation_call", id: "ig_1", result: "BB", status: "completed" },
      { type: "message", role: "user", content: [...content, { type: "input_image", file_id }] },
    ] as unknown as Item[];
    const first = draw({ prompt: "Brighter", action: "edit" });
    const second = draw({ prompt: "Darker", action: "edit" });
    await drawing.run({ items, replies: [first, second, DONE] });
    const [edit, again] = upstream.requests;
    assert.equal(edit?.path, "/v1/images/edits");
    const urls = (body: unknown) =>
      (body as { images: { image_url: string }[] }).images.map(({ image_url }) => image_url);
    const given = ["BB", "AA", pictureOf("file")].map((data) => `data:image/png;base64,${data}`);
    assert.deepEqual(urls(edit?.body), given);
    const drawn = `data:image/png;base64,${pictureOf("edit Brighter")}`;
    assert.deepEqual(urls(again?.body), [...given, drawn]);
  });

  it("asks older models for the picture itself", async () => {
    await using drawing = await startDrawing("dall-e-3");
    const { response } = await drawing.run({ replies: [draw({ prompt: "A cat" }), DONE] });
    assert.equal(drawing.upstream.requests[0]?.body["response_format"], "b64_json");
    const [call] = response.output;
    assert.equal(call?.type === "image_generation_call" && call.status, "completed");
  });

  it("tells the model why there is no picture, and never the key", async () => {
    await using drawing = await startDrawing("gpt-image-1", "sk-wrong");
    const replies = [draw({ prompt: "A cat" }), DONE];
    const { response, requests } = await drawing.run({ replies });
    const [call] = response.output;
    assert.ok(call?.type === "image_generation_call");
    assert.deepEqual([call.status, call.result], ["failed", null]);
    const [, answered] = callsIn(requests[1]);
    assert.ok(answered?.type === "function_call_output");
    assert.match(String(answered.output), /answered 401: Incorrect API key provided/);
    assert.doesNotMatch(JSON.stringify(response), /sk-wrong/);
    const edit = await startDrawing();
    const none = await edit.run({ replies: [draw({ prompt: "x", action: "edit" }), DONE] });
    const [, refused] = callsIn(none.requests[1]);
    assert.match(JSON.stringify(refused), /no picture to change/);
    await edit[Symbol.asyncDispose]();
  });

  it("is left out and reported if no server draws", async () => {
    const kinds = [createImageKind({ open: undefined })];
    const tools = [{ type: "image_generation" }];
    const { response, requests } = await runKinds({ kinds, tools, replies: [DONE] });
    assert.deepEqual(requests[0]?.tools, []);
    assert.match(response.metadata["offshoot_ignored"] ?? "", /no image model is set/);
  });
});
