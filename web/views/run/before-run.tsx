/** The session or chain before a run, as in its first model call: read on demand. */

import { useSignal } from "@preact/signals";
import { get, messageOf, runPath } from "../../core/api.ts";
import { plural } from "../../core/format.ts";
import type { EventView, RecordPage, RunDetail, TurnStep } from "../../core/views.ts";
import { Items } from "./items.tsx";

export function BeforeRun({ run }: { readonly run: string }) {
  const items = useSignal<readonly unknown[] | undefined>(undefined);
  const said = useSignal("Earlier in this conversation");
  const read = async (): Promise<void> => {
    try {
      const found = await readBefore(run);
      items.value = found ?? [];
      said.value =
        found === undefined
          ? "What was said before this run is deleted"
          : `Earlier in this conversation: ${plural(found.length, "item")}`;
    } catch (failure) {
      said.value = messageOf(failure);
    }
  };
  return (
    <details
      class="block before"
      onToggle={(event) => {
        if (event.currentTarget.open && items.peek() === undefined) void read();
      }}
    >
      <summary>{said.value}</summary>
      {items.value && <Items items={items.value} />}
    </details>
  );
}

/** Undefined if it was deleted. */
async function readBefore(run: string): Promise<readonly unknown[] | undefined> {
  const path = runPath(run);
  const [detail, turns] = await Promise.all([
    get<RunDetail>(path),
    get<RecordPage<EventView>>(`${path}/events`, { types: "turn_start", limit: 1 }),
  ]);
  const first = turns.data[0];
  if (!first) return [];
  const step = await get<TurnStep>(`${path}/steps/${first.seq}`);
  if (step.before === "deleted") return undefined;
  const input = step.request["input"];
  const own = detail.start?.event["input"];
  const all = Array.isArray(input) ? input : [];
  return all.slice(0, all.length - (Array.isArray(own) ? own.length : 0));
}
