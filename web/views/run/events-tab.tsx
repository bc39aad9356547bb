/** The raw log, event by event. What is large comes in pieces when it is asked for. */

import { useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { get } from "../../core/api.ts";
import { toExactTime } from "../../core/format.ts";
import type { EventView, Page, TextPiece } from "../../core/views.ts";
import { Code } from "../../parts/code.tsx";

const PAGE = 200;

export function EventsTab({
  id,
  from,
}: {
  readonly id: string;
  readonly from: number | undefined;
}) {
  const events = useSignal<readonly EventView[]>([]);
  const next = useSignal<string | null>(from === undefined ? "-1" : String(from - 1));
  const problem = useSignal("");
  const more = useCallback(async (): Promise<void> => {
    try {
      const page = await get<Page<EventView>>(`runs/${encodeURIComponent(id)}/events`, {
        after: next.peek(),
        limit: PAGE,
      });
      events.value = [...events.peek(), ...page.data];
      next.value = page.next;
      problem.value = "";
    } catch (failure) {
      problem.value = failure instanceof Error ? failure.message : String(failure);
    }
  }, [id, events, next, problem]);
  useEffect(() => void more(), [more]);
  return (
    <div class="events">
      {problem.value !== "" && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      {events.value.map((view) => (
        <EventRow key={view.seq} id={id} view={view} isOpen={view.seq === from} />
      ))}
      {next.value !== null && (
        <button type="button" onClick={() => void more()}>
          More events
        </button>
      )}
    </div>
  );
}

interface EventRowProps {
  readonly id: string;
  readonly view: EventView;
  readonly isOpen: boolean;
}

function EventRow({ id, view, isOpen }: EventRowProps) {
  const numbers = view.last_seq > view.seq ? `${view.seq}–${view.last_seq}` : `${view.seq}`;
  return (
    <details class="event" open={isOpen}>
      <summary class="row">
        <span class="number quiet">{numbers}</span>
        <b class="mono">{view.type}</b>
        <span class="clip grow quiet mono">{JSON.stringify(view.event).slice(0, 160)}</span>
        <span class="quiet number">{toExactTime(view.at_ms).slice(11, 23)}</span>
      </summary>
      <Code text={JSON.stringify(view.event, null, 2)} language="json" />
      {view.clipped.map(({ path, length, kind }) => (
        <LongText key={path} id={id} seq={view.seq} path={path} length={length} kind={kind} />
      ))}
    </details>
  );
}

interface LongTextProps {
  readonly id: string;
  readonly seq: number;
  readonly path: string;
  readonly length: number;
  readonly kind: "text" | "list";
}

function LongText({ id, seq, path, length, kind }: LongTextProps) {
  const text = useSignal("");
  const next = useSignal<number | null>(0);
  const show = async (): Promise<void> => {
    const query = { path, from: next.peek() };
    const piece = await get<TextPiece>(`runs/${encodeURIComponent(id)}/events/${seq}`, query);
    text.value += piece.text;
    next.value = piece.next;
  };
  return (
    <div>
      <p class="quiet">
        <code>{path}</code> is cut: {length.toLocaleString("en")}{" "}
        {kind === "text" ? "characters" : "entries"}.{" "}
        {kind === "text" && next.value !== null && (
          <button type="button" class="small" onClick={() => void show()}>
            {text.value === "" ? "Show" : "Show more"}
          </button>
        )}
      </p>
      {text.value !== "" && <pre class="plain">{text.value}</pre>}
    </div>
  );
}
