/**
 * Rows of equal height, of which only the visible ones are in the page: 50,000 rows cost as much as 60. Beyond
 * `MOST_PX` browsers cut an element's height, so positions are scaled there. Rows that are inserted above do not move
 * the visible ones: the first visible row stays where it is.
 */

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** Browsers stop at about 17 million; less leaves room for zoom. */
const MOST_PX = 8_000_000;
/** Rows above and below the window, so that a quick wheel shows no blank. */
const SPARE = 8;

interface VirtualListProps {
  readonly count: number;
  readonly rowHeight: number;
  readonly label: string;
  readonly role?: "tree" | "list";
  /** The row selected by keys; it is kept in view. */
  readonly active?: Signal<number>;
  /** The id of the active row's element, for screen readers. */
  readonly activeId?: string | undefined;
  row(index: number): ComponentChildren;
  /** Maps rows to their present positions: for lists that grow in the middle. */
  readonly places?:
    | { keyAt(index: number): string | undefined; find(key: string): number }
    | undefined;
  onKey?(event: KeyboardEvent): void;
  /** Called with the visible rows, to fetch what is missing of them. */
  onWindow?(first: number, last: number): void;
}

export function VirtualList(props: VirtualListProps) {
  const { count, rowHeight, row, role = "list", label, onKey, onWindow, active, places } = props;
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  const scale = Math.max(1, (count * rowHeight) / MOST_PX);
  useHeight(box, height);
  useAnchor(box, { top, scale, rowHeight, count, places });

  const at = active?.value;
  useEffect(() => {
    if (at === undefined || !box.current) return;
    keepInView(box.current, at * rowHeight, rowHeight, scale);
  }, [at, rowHeight, scale]);

  const offset = top.value * scale;
  const first = Math.max(0, Math.floor(offset / rowHeight) - SPARE);
  const last = Math.min(count, Math.ceil((offset + height.value) / rowHeight) + SPARE);
  useEffect(() => onWindow?.(first, last), [first, last, onWindow]);

  const rows = [];
  for (let index = first; index < last; index++) rows.push(row(index));
  return (
    <div
      class="virtual"
      ref={box}
      role={role}
      aria-label={label}
      aria-activedescendant={role === "tree" ? props.activeId : undefined}
      tabIndex={0}
      onKeyDown={onKey}
      onScroll={(event) => {
        top.value = event.currentTarget.scrollTop;
      }}
    >
      <div
        class="virtual-room"
        role="presentation"
        style={{ height: `${(count * rowHeight) / scale}px` }}
      >
        <div
          class="virtual-window"
          role="presentation"
          style={{ transform: `translateY(${top.value + first * rowHeight - offset}px)` }}
        >
          {rows}
        </div>
      </div>
    </div>
  );
}

type Box = { readonly current: HTMLDivElement | null };

function useHeight(box: Box, height: Signal<number>): void {
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, height]);
}

interface Anchoring extends Pick<VirtualListProps, "rowHeight" | "count"> {
  readonly places: VirtualListProps["places"];
  readonly top: Signal<number>;
  readonly scale: number;
}

/** Remembers the first visible row, and follows it when rows are inserted above it. */
function useAnchor(box: Box, { top, scale, rowHeight, count, places }: Anchoring): void {
  const anchor = useRef<{ readonly key: string; readonly index: number } | undefined>(undefined);
  useLayoutEffect(() => {
    const element = box.current;
    const before = anchor.current;
    if (!element || !places) return;
    if (before && top.peek() > 0 && places.keyAt(before.index) !== before.key) {
      const now = places.find(before.key);
      const moved = now < 0 ? 0 : ((now - before.index) * rowHeight) / scale;
      if (moved !== 0) {
        element.scrollTop += moved;
        top.value = element.scrollTop;
      }
    }
    const index = Math.floor((top.peek() * scale) / rowHeight);
    const key = places.keyAt(index);
    anchor.current = key === undefined ? undefined : { key, index };
  }, [box, top.value, scale, rowHeight, count, places, top]);
}

function keepInView(box: HTMLElement, y: number, rowHeight: number, scale: number): void {
  const from = box.scrollTop * scale;
  if (y < from) box.scrollTop = y / scale;
  else if (y + rowHeight > from + box.clientHeight) {
    box.scrollTop = (y + rowHeight - box.clientHeight) / scale;
  }
}
