/** The parts of functions that store things for tenants: the shelf, the clock, and new ids. */

import type { Clock } from "../../base/clock.ts";
import type { MakeId } from "../../base/ids.ts";
import type { Shelf } from "../../store/shelf.ts";

export interface ShelfParts {
  readonly shelf: Shelf;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/** Times of the API are whole seconds. */
export function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
