/** What a process that continues a response finds in its journal, of this version and of earlier ones. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../../src/base/json.ts";
import { encodeOpening, readOpening } from "../../../src/responses/run/past-opening.ts";

const item = { type: "message", id: "msg_1", role: "user", content: "Hi" } as const;
const opening = encodeOpening({ before: [item], offers: [] });
const other = encodeOpening({ before: [], offers: [] });

function read(journal: Readonly<Record<string, Json>>, isTakeover: boolean): unknown {
  return readOpening({ isTakeover, recall: (key) => journal[key] });
}

describe("the opening of a response in its journal", () => {
  it("is that of the process that began a background response", () => {
    assert.deepEqual(read({ start: null, begin: opening }, true), opening);
    assert.deepEqual(read({ start: opening, begin: {} }, true), undefined);
  });

  it("is that of a begun response also for a process that waited for the turn again", () => {
    assert.deepEqual(read({ start: null, begin: opening }, false), opening);
  });

  it("is found where earlier versions have put it", () => {
    assert.deepEqual(read({ start: opening, begin: null }, true), opening);
    assert.deepEqual(read({ start: opening }, true), opening);
  });

  it("is not there for a response that only waited, and for one that began with nothing", () => {
    assert.equal(read({ start: opening }, false), undefined);
    assert.equal(read({ start: other, begin: {} }, true), undefined);
  });
});
