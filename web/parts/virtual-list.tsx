/**
 * Rows of one height, of which only those that can be seen are in the page: 50,000 rows cost what 60 do.
 * Beyond `MOST_PX` browsers cut an element's height, so positions are scaled there.
 */

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Browsers stop at about 17 million; less leaves room for zoom. */
const MOST_PX = 8_000_000;
/** Rows above and below the window, so that a quick wheel shows no blank. */
const SPARE = 8;

interface VirtualListProps {
  readonly count: number;
  readonly rowHeight: number;
  readonly label: string;
  readonly role?: "tree" | "list" | "table" | "rowgroup";
  /** The row that has the focus; it is kept in view. */
  readonly active?: Signal<number>;
  row(index: number): ComponentChildren;
  onKey?(event: KeyboardEvent): void;
  /** Told which rows can be seen, to fetch what is missing of them. */
  onWindow?(first: number, last: number): void;
}

export function VirtualList(props: VirtualListProps) {
  const { count, rowHeight, row, role = "list", label, onKey, onWindow, active } = props;
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  const scale = Math.max(1, (count * rowHeight) / MOST_PX);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [height]);

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

function keepInView(box: HTMLElement, y: number, rowHeight: number, scale: number): void {
  const from = box.scrollTop * scale;
  if (y < from) box.scrollTop = y / scale;
  else if (y + rowHeight > from + box.clientHeight) {
    box.scrollTop = (y + rowHeight - box.clientHeight) / scale;
  }
}
