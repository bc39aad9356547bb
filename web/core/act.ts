/** An action of a person on the server, and its result, shown beside the control. */

import { type Signal, useSignal } from "@preact/signals";
import { messageOf } from "./api.ts";

export interface Action {
  readonly busy: Signal<boolean>;
  /** The message of the last action; empty before there was one. */
  readonly said: Signal<string>;
  readonly failed: Signal<boolean>;
  /** Resolves with false, and shows the reason, if it failed. One at a time. */
  run(work: () => Promise<string | undefined>): Promise<boolean>;
}

/** `work` returns the message for success. */
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
