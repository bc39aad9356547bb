/** Something that a person does to the server, and what came of it, said where it was done. */

import { type Signal, useSignal } from "@preact/signals";
import { messageOf } from "./api.ts";

export interface Action {
  readonly busy: Signal<boolean>;
  /** What came of the last one; empty before there was one. */
  readonly said: Signal<string>;
  readonly failed: Signal<boolean>;
  /** Resolves with false, and says why, where it did not work. One at a time. */
  run(work: () => Promise<string | undefined>): Promise<boolean>;
}

/** `work` returns what is said when it has worked. */
export function useAction(): Action {
  const busy = useSignal(false);
  const said = useSignal("");
  const failed = useSignal(false);
  return {
    busy,
    said,
    failed,
    async run(work) {
      if (busy.peek()) return false;
      busy.value = true;
      try {
        said.value = (await work()) ?? "";
        failed.value = false;
        return true;
      } catch (failure) {
        said.value = messageOf(failure);
        failed.value = true;
        return false;
      } finally {
        busy.value = false;
      }
    },
  };
}
