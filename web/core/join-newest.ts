import type { RunView } from "./views.ts";

/** Replaces the rows of the first page by the new ones; older rows stay where they are. */
export function joinNewest(
  newest: readonly RunView[],
  kept: readonly RunView[],
): readonly RunView[] {
  const known = new Set(newest.map(({ id }) => id));
  const oldest = newest.at(-1)?.created_at_ms ?? 0;
  return [
    ...newest,
    ...kept.filter(({ id, created_at_ms }) => !known.has(id) && created_at_ms <= oldest),
  ];
}
