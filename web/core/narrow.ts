/**
 * True on a window as narrow as a phone's: rows have two lines then. The style sheet has the same limit.
 */

import { signal } from "@preact/signals";

const query = matchMedia("(max-width: 760px)");

export const isNarrow = signal(query.matches);

query.addEventListener("change", () => {
  isNarrow.value = query.matches;
});
