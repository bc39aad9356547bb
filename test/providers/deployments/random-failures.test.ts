/** Random failures: invariants that hold in every case. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Provider } from "../../../src/providers/provider.ts";
import { createScriptedProvider, type Reply, reply } from "../../../src/testing/index.ts";
import { textOf } from "../provider-contract.ts";
import { ask, DOWN, endOf, open, RETRY } from "./deployments-fixture.ts";

/** A random number generator that always gives the same numbers for a seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe("random failures over three deployments", () => {
  const LABELS = ["a", "b", "c"];
  const FAULTS: readonly (() => Reply)[] = [
    () => DOWN,
    () => reply.status(500, "broke"),
    () => reply.status(401, "key"),
    () => reply.status(429, "", { "retry-after": "3" }),
    () => reply.failure("broke before output"),
  ];

  interface Episode {
    /** The deployments that answer now. */
    readonly well: ReadonlySet<string>;
    /** Those of them whose answer breaks off after output. */
    readonly breaking: ReadonlySet<string>;
  }

  function toEpisode(random: () => number): Episode {
    const pick = (share: number): Set<string> => new Set(LABELS.filter(() => random() < share));
    return { well: pick(0.5), breaking: pick(0.1) };
  }

  for (let seed = 1; seed <= 20; seed++) {
    it(`no output twice, no attempt too many, success if one is healthy (seed ${seed})`, async () => {
      const random = createRandom(seed);
      let episode: Episode = { well: new Set(LABELS), breaking: new Set() };
      const answering = (label: string): Provider => ({
        name: label,
        stream(said, call) {
          const fault = FAULTS[Math.floor(random() * FAULTS.length)] ?? FAULTS[0];
          const broken = reply.failure("broke", { text: `Half of ${label}` });
          const said1 = episode.breaking.has(label) ? broken : reply.text(`All of ${label}`);
          const given = episode.well.has(label) ? said1 : (fault?.() ?? DOWN);
          return createScriptedProvider(given).stream(said, call);
        },
      });
      const group = open(
        Object.fromEntries(
          LABELS.map((label, at) => [label, { provider: answering(label), isFallback: at === 2 }]),
        ),
        random(),
      );
      for (let call = 0; call < 60; call++) {
        episode = toEpisode(random);
        group.asked.length = 0;
        const told: string[] = [];
        let waiting: readonly string[] = [];
        const seeWaiting = (): void => {
          const asking = group.deployments.filter(({ health }) => health.askedWaitMs > 0);
          waiting = asking.map(({ label }) => label);
        };
        const events = await ask(group, {}, undefined, seeWaiting).catch((thrown: unknown) => {
          told.push(String(thrown));
          return undefined;
        });
        const tries = group.asked.length;
        assert.ok(tries <= LABELS.length + RETRY.attempts - 1, `${tries} tries`);
        const last = group.asked.at(-1) ?? "";
        if (events) {
          assert.equal(textOf(events), `All of ${last}`, "one deployment's words alone");
          assert.deepEqual(endOf(events).by?.tries, tries);
        } else {
          // It failed because output had been sent, or because no deployment that may be asked is healthy.
          const isBroken = episode.well.has(last) && episode.breaking.has(last);
          const left = LABELS.filter(
            (label) => episode.well.has(label) && !waiting.includes(label),
          );
          assert.ok(isBroken || left.length === 0, `${left} were well: ${told}`);
        }
        await group.clock.advance(Math.floor(random() * 10_000));
      }
    });
  }
});
