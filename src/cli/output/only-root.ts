/** Keeps a form that knows of one run alone to the root of a tree: the run of the first event. */

import type { Projection } from "./output.ts";

export function onlyRoot(projection: Projection): Projection {
  let root: string | undefined;
  return {
    async write(events) {
      root ??= events[0]?.run_id;
      const own = events.filter(({ run_id }) => run_id === root);
      if (own.length > 0) await projection.write(own);
    },
  };
}
