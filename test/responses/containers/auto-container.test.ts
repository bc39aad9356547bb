import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createIds } from "../../../src/base/ids.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { chooseContainer } from "../../../src/responses/containers/auto-container.ts";
import { listContainerFiles } from "../../../src/responses/containers/container-files.ts";
import { getContainer, putContainer } from "../../../src/responses/containers/containers.ts";
import { createFile } from "../../../src/responses/files/files.ts";
import { parseNewFile } from "../../../src/responses/files/new-file.ts";
import type { KindRequest } from "../../../src/responses/kinds/tool-kind.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";
import { patience } from "../../patience.ts";
import { streamOf } from "../../store/shelf-contract.ts";

const MINUTE_MS = 60_000;

function createParts() {
  const clock = createManualClock(1_790_000_000_000);
  return { shelf: createMemoryShelf(), clock, makeId: createIds(clock) };
}

function toRequest(items: readonly Item[] = [], more: Partial<KindRequest> = {}): KindRequest {
  const signal = patience();
  const about = { tenant: "t", runId: "run_2/a", include: new Set<string>(), catalogue: [] };
  return { ...about, signal, ...more, items };
}

const put = (parts: ReturnType<typeof createParts>, id: string) =>
  putContainer(parts, "t", id, { name: "n", minutes: 20, memoryLimit: "4g" });

describe("the container of a request", () => {
  it("is its own container, the same after a restart, made by its first use", async () => {
    const parts = createParts();
    const asked = parseNewFile("a.txt", { purpose: "user_data" });
    const bytes = { bytes: streamOf(Buffer.from("Hi")), maxBytes: 10 };
    const { id: fileId } = await createFile(parts, "t", asked, bytes);
    const choose = () => chooseContainer(parts, toRequest(), { fileIds: [fileId] });
    const chosen = await choose();
    assert.deepEqual([chosen.containerId, chosen.memoryLimit], ["cntr_2_a", "1g"]);
    await assert.rejects(getContainer(parts, "t", "cntr_2_a"), { code: "not_found" });
    await chosen.use();
    await (await choose()).use();
    const files = await listContainerFiles(parts.shelf, chosen);
    assert.deepEqual(
      files.map(({ path }) => path),
      ["a.txt"],
    );
  });

  it("is the conversation's last one, while that exists", async () => {
    const parts = createParts();
    await put(parts, "cntr_old");
    const items = [
      { type: "code_interpreter_call", container_id: "cntr_gone" },
      { type: "shell_call", environment: { container_id: "cntr_old" } },
      { type: "message", role: "user", content: "Go on" },
    ] as unknown as Item[];
    const chosen = await chooseContainer(parts, toRequest(items), {});
    assert.deepEqual([chosen.containerId, chosen.memoryLimit], ["cntr_old", "4g"]);
    parts.clock.advance(20 * MINUTE_MS);
    const next = await chooseContainer(parts, toRequest(items), {});
    assert.equal(next.containerId, "cntr_2_a");
  });

  it("is refused if it expires in the middle", async () => {
    const parts = createParts();
    await put(parts, "cntr_1");
    const chosen = await chooseContainer(parts, toRequest(), { id: "cntr_1" });
    parts.clock.advance(19 * MINUTE_MS);
    await chosen.use();
    parts.clock.advance(20 * MINUTE_MS);
    await assert.rejects(chosen.use(), /expired/);
  });

  it("is refused where it, or a file for it, is not the tenant's", async () => {
    const parts = createParts();
    await put(parts, "cntr_1");
    const stranger = toRequest([], { tenant: "other" });
    const wrong = { code: "invalid_request", param: "tools" };
    await assert.rejects(chooseContainer(parts, stranger, { id: "cntr_1" }), wrong);
    await assert.rejects(chooseContainer(parts, toRequest(), { fileIds: ["file-x"] }), wrong);
    const items = [{ type: "code_interpreter_call", container_id: "cntr_1" }] as unknown as Item[];
    const request = toRequest(items, { tenant: "other" });
    assert.equal((await chooseContainer(parts, request, {})).containerId, "cntr_2_a");
  });
});
