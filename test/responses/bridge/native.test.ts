import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Native } from "../../../src/protocol/native.ts";
import type { Tool } from "../../../src/protocol/tools.ts";
import { chooseNative, NOT_NATIVE } from "../../../src/responses/bridge/native.ts";

const tool = (type: string, fields: object = {}): Tool => ({ type, ...fields }) as unknown as Tool;
const ASKED = { tools: [], include: [] };
const VENDOR: Native = { ...NOT_NATIVE, runs: () => true };
const FREE = { isBacked: () => false, nativeTools: ["*"] };

describe("the choice of who runs a vendor's tool", () => {
  const runs = (one: Tool, choice: Partial<Parameters<typeof chooseNative>[1]> = {}): boolean =>
    chooseNative(VENDOR, { ...FREE, ...choice }).runs(one, ASKED);

  it("is the vendor, unless the operator or the request says otherwise", () => {
    assert.ok(runs(tool("web_search")));
    assert.ok(!runs(tool("web_search", { execution: "server" })));
    assert.ok(!runs(tool("web_search"), { isBacked: (kind) => kind === "web_search" }));
    assert.ok(!runs(tool("web_search_preview"), { nativeTools: ["code_*"] }));
    assert.ok(runs(tool("code_interpreter"), { nativeTools: ["code_*"] }));
  });

  it("is the vendor for its own types, whatever stands in for the standard kind", () => {
    const isBacked = (): boolean => true;
    assert.ok(runs(tool("web_search_20250305"), { isBacked }));
    assert.ok(runs(tool("google_search"), { isBacked }));
    assert.ok(!runs(tool("google_search"), { isBacked, nativeTools: ["none"] }));
  });

  it("leaves calls of the client's tools to the vendor's own types for them", () => {
    for (const type of ["custom", "namespace", "memory_20250818", "bash_20250124"]) {
      assert.ok(runs(tool(type), { nativeTools: ["none"] }), type);
    }
  });

  it("is not the vendor if a limit in dollars cannot be kept", () => {
    const dear: Native = { ...VENDOR, isPriced: () => false };
    const limited = chooseNative(dear, { ...FREE, isLimited: true });
    assert.ok(!limited.runs(tool("web_search"), ASKED));
    assert.throws(() => limited.runs(tool("google_maps"), ASKED), /price of `google_maps`/);
  });
});
