/**
 * An object that a run keeps between its tool calls: an interpreter, a temporary folder. The first call
 * that needs it opens it; objects are closed with the run, in the opposite order.
 */

export interface ScopedResource {
  close(): Promise<void>;
}

export interface RunScope {
  /** The object with this key. If there is none, `open` is called, once for all callers meanwhile. */
  keep<Thing extends ScopedResource>(key: string, open: () => Promise<Thing>): Promise<Thing>;
  /** Closes the object with this key, if there is one. The next `keep` opens a new one. */
  drop(key: string): Promise<void>;
  close(): Promise<void>;
}

export function createScope(): RunScope {
  const kept = new Map<string, Promise<ScopedResource>>();

  async function drop(key: string): Promise<void> {
    const thing = kept.get(key);
    kept.delete(key);
    // An object that could not be opened needs no close; its caller got the error.
    await (await thing?.catch(() => undefined))?.close();
  }

  return {
    keep<Thing extends ScopedResource>(key: string, open: () => Promise<Thing>): Promise<Thing> {
      const known = kept.get(key) as Promise<Thing> | undefined;
      if (known !== undefined) return known;
      const opening = open();
      kept.set(key, opening);
      // A failed opening may be tried again.
      opening.catch(() => kept.get(key) === opening && kept.delete(key));
      return opening;
    },
    drop,
    async close() {
      for (const key of [...kept.keys()].reverse()) await drop(key);
    },
  };
}
