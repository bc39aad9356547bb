/**
 * The books of a test's keys: in memory; or, for a test with three servers, in the Postgres record that these share. That one
 * is opened by the first question, because a test makes its books before its servers.
 */

import type { Audit } from "../../../src/store/audit.ts";
import { createMemoryAudit } from "../../../src/store/memory/memory-audit.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createMemorySpending } from "../../../src/store/memory/memory-spending.ts";
import { once } from "../../../src/store/once.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import type { PlaceCount } from "../../../src/store/place-count.ts";
import type { Shelf } from "../../../src/store/shelf.ts";
import type { Spending } from "../../../src/store/spending.ts";
import { closeAtEnd, IS_REPLICATED, newSharedRecord } from "../../replicated.ts";

export interface TestBooks {
  readonly shelf: Shelf;
  readonly spending: Spending;
  readonly audit: Audit;
  readonly places: PlaceCount | undefined;
  /** The record that servers share; undefined in memory. */
  readonly record: (() => Promise<string>) | undefined;
}

export function createTestBooks(): TestBooks {
  return IS_REPLICATED ? createSharedBooks() : createMemoryBooks();
}

function createMemoryBooks(): TestBooks {
  const stores = { shelf: createMemoryShelf(), spending: createMemorySpending() };
  return { ...stores, audit: createMemoryAudit(), places: undefined, record: undefined };
}

function createSharedBooks(): TestBooks {
  const record = once(newSharedRecord);
  const open = once(async () => {
    const kept = await openKept(await record());
    closeAtEnd(() => kept.close());
    return kept;
  });
  const audit = once(async () => (await open()).audit());
  return {
    record,
    shelf: later(async () => (await open()).shelf(), ["readContent"]),
    spending: later(async () => (await open()).spending()),
    audit: {
      write: (entry) => void audit().then((opened) => opened.write(entry)),
      list: async (query) => (await audit()).list(query),
      prune: async (beforeMs) => (await audit()).prune(beforeMs),
      close: async () => {},
    },
    places: {
      async take(...asked) {
        const places = await (await open()).places();
        return await places?.take(...asked);
      },
    },
  };
}

/** A store whose methods wait until it is open. All of them give promises, except those named, which give generators. */
function later<Store extends object>(
  open: () => Promise<Store>,
  generators: readonly string[] = [],
): Store {
  type Method = (...given: unknown[]) => unknown;
  const find = async (name: string): Promise<Method> => {
    const store = await open();
    const method = Reflect.get(store, name) as Method | undefined;
    return method?.bind(store) ?? (() => undefined);
  };
  const get = (_: object, name: string): unknown => {
    if (name === "then") return undefined;
    if (!generators.includes(name))
      return async (...given: unknown[]) => (await find(name))(...given);
    return async function* (...given: unknown[]) {
      yield* (await find(name))(...given) as AsyncIterable<unknown>;
    };
  };
  return new Proxy({}, { get: (target, name) => get(target, String(name)) }) as Store;
}
