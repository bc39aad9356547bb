/** A run that is stored only while things exist, as the conversation that it continues. For every record. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KeptRecord } from "../../src/store/kept.ts";
import type { NewThing } from "../../src/store/shelf.ts";
import { newRun } from "./store-contract.ts";

function thing(id: string, parent: string | null = null): NewThing {
  const rest = { body: id, created_at_ms: 1, expires_at_ms: null };
  return { tenant: "t", kind: "conversation", id, parent, ...rest };
}

const PLACE = { queue: "q", lane: "l", atOnce: 1, maxWaiting: 5 };
const ROUNDS = 20;

export function describeNeeds(name: string, open: () => Promise<KeptRecord>): void {
  describe(`a run that needs things (${name})`, () => {
    it("is not stored after one of them was deleted, and brings nothing to the shelf", async () => {
      const kept = await open();
      const [store, shelf] = [await kept.runs(), await kept.shelf()];
      await shelf.putAll([thing("a"), thing("b")]);
      const needs = [thing("a"), thing("b")];
      const toRun = (id: string) => ({ ...newRun(id), needs, things: [thing(`${id}/a`, "a")] });
      assert.equal(await store.createRun(toRun("run_1")), true);
      await shelf.delete(thing("b"));
      const gone = { code: "not_found", message: /conversation `b`/ };
      await assert.rejects(store.createRun(toRun("run_2")), gone);
      await assert.rejects(store.createQueued(toRun("run_3"), PLACE), gone);
      for (const id of ["run_2", "run_3"]) {
        assert.equal(await store.getRun(id), undefined);
        assert.equal(await shelf.get(thing(`${id}/a`)), undefined);
      }
      assert.equal(await store.countWaiting("q"), 0);
      assert.equal(await store.createRun(toRun("run_1")), false, "it is there already");
    });

    it("does not outlive them if they are deleted with it at the same time", async () => {
      const kept = await open();
      const [store, shelf] = [await kept.runs(), await kept.shelf()];
      for (let round = 0; round < ROUNDS; round++) {
        const [id, needed] = [`run_${round}`, thing(`a${round}`)];
        await shelf.put(needed);
        const create = () => store.createRun({ ...newRun(id), needs: [needed] });
        const remove = () => shelf.removeAll([{ ...needed, run: id }]);
        const both = round % 2 === 0 ? [create(), remove()] : [remove(), create()];
        await Promise.allSettled(both);
        assert.equal(await store.getRun(id), undefined, `round ${round}`);
      }
    });
  });
}
