/** The places that one child process has for children of its own, from those of its parent. */

import type { ChildPlaces } from "../child.ts";
import { encodePlace, type PlaceAsk } from "../place-line.ts";

export interface PlaceGrants {
  read(ask: PlaceAsk): void;
  /** Takes all places back: the child has ended. */
  stop(): void;
}

export function createPlaceGrants(
  places: ChildPlaces | undefined,
  write: (line: string) => void,
): PlaceGrants {
  const open = new Map<number, () => void>();

  async function grant(ask: number): Promise<void> {
    const over = new AbortController();
    open.set(ask, () => over.abort());
    const leave = await places?.enter(over.signal);
    if (!leave) return;
    if (over.signal.aborted) return leave();
    open.set(ask, leave);
    write(encodePlace(ask));
  }

  function end(ask: number): void {
    open.get(ask)?.();
    open.delete(ask);
  }

  return {
    read({ ask, isDone }) {
      if (isDone) end(ask);
      // A request that was withdrawn has no place any more.
      else grant(ask).catch(() => {});
    },
    stop() {
      for (const ask of [...open.keys()]) end(ask);
    },
  };
}
