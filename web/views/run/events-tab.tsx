/** The raw log, page by page, with a link to the rest of every cut text. */

import { useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { address, refine } from "../../core/address.ts";
import { get, messageOf, runPath } from "../../core/api.ts";
import { toExactTime } from "../../core/format.ts";
import { session } from "../../core/session.ts";
import type { EventView, RecordPage } from "../../core/views.ts";
import { Json } from "../../parts/code.tsx";
import { Problem } from "../../parts/loaded.tsx";
import { LongText } from "./long-text.tsx";

const PAGE = 200;

export function EventsTab({ id }: { readonly id: string }) {
  const types = address.value.query.get("types") ?? "";
  return (
    <>
      <div class="filters">
        <input
          type="search"
          aria-label="Only events of these types"
          placeholder="Only these types: tool_end,notice"
          value={types}
          onChange={(event) => refine({ types: event.currentTarget.value.replace(/\s/g, "") })}
        />
      </div>
      <EventList key={types} id={id} types={types} />
    </>
  );
}

function EventList({ id, types }: { readonly id: string; readonly types: string }) {
  const events = useSignal<readonly EventView[]>([]);
  const next = useSignal<string | null>("-1");
  const problem = useSignal("");
  const token = session.value?.token;
  const more = useCallback(async (): Promise<void> => {
    try {
      const query = { after: next.peek(), limit: PAGE, types };
      const page = await get<RecordPage<EventView>>(`${runPath(id)}/events`, query);
      events.value = [...events.peek(), ...page.data];
      next.value = page.next;
      problem.value = "";
    } catch (failure) {
      problem.value = messageOf(failure);
    }
  }, [id, types, events, next, problem]);
  useEffect(() => {
    if (token !== undefined && events.peek().length === 0) void more();
  }, [more, token, events]);
  return (
    <div class="events">
      {events.value.map((view) => (
        <EventRow key={view.seq} id={id} view={view} />
      ))}
      {problem.value !== "" && <Problem text={problem.value} again={() => void more()} />}
      {next.value !== null && events.value.length > 0 && (
        <button type="button" onClick={() => void more()}>
          More events
        </button>
      )}
    </div>
  );
}

/** A row of one event. Its JSON is made when it is opened: a page of events may be a megabyte. */
function EventRow({ id, view }: { readonly id: string; readonly view: EventView }) {
  const open = useSignal(false);
  const numbers = view.last_seq > view.seq ? `${view.seq}–${view.last_seq}` : `${view.seq}`;
  return (
    <details
      class="event"
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary class="row fixed">
        <span class="event-number number quiet">{numbers}</span>
        <b class="mono">{view.type}</b>
        <span class="clip grow quiet mono">{toBrief(view)}</span>
        <span class="quiet number">{toExactTime(view.at_ms).slice(11, 23)}</span>
      </summary>
      {open.value && (
        <div class="stack tight">
          <Json value={view.event} />
          {view.clipped
            .filter(({ kind }) => kind === "text")
            .map(({ path, length }) => (
              <LongText key={path} rest={{ run: id, seq: view.seq, path, length }} />
            ))}
        </div>
      )}
    </details>
  );
}

function toBrief({ event }: EventView): string {
  const { type: _, at_ms: __, ...rest } = event;
  return JSON.stringify(rest).slice(0, 200);
}
