/**
 * What a run keeps between its tool calls: an interpreter, a temporary folder. Opened by the first
 * call that needs it, closed with the run, in the opposite order.
 */

export interface Kept {
  close(): Promise<void>;
}

export interface Scope {
  /** The thing under this key; `open` is called when there is none, once for all who ask meanwhile. */
  keep<Thing extends Kept>(key: string, open: () => Promise<Thing>): Promise<Thing>;
  /** Closes the thing under this key, if there is one: the next `keep` opens it anew. */
  drop(key: string): Promise<void>;
  close(): Promise<void>;
}

export function createScope(): Scope {
  const kept = new Map<string, Promise<Kept>>();

  async function drop(key: string): Promise<void> {
    const thing = kept.get(key);
    kept.delete(key);
    // What could not be opened has nothing to close; whoever asked for it was told.
    await (await thing?.catch(() => undefined))?.close();
  }

  return {
    keep<Thing extends Kept>(key: string, open: () => Promise<Thing>): Promise<Thing> {
      const known = kept.get(key) as Promise<Thing> | undefined;
      if (known !== undefined) return known;
      const opening = open();
      kept.set(key, opening);
      // What failed to open may be tried again.
      opening.catch(() => kept.get(key) === opening && kept.delete(key));
      return opening;
    },
    drop,
    async close() {
      for (const key of [...kept.keys()].reverse()) await drop(key);
    },
  };
}
