/** A button that opens a list of actions. Arrow keys move, Escape closes and returns the focus. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";

export interface MenuEntry {
  readonly name: string;
  readonly icon?: IconName;
  run(): unknown;
}

interface MenuProps {
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly children?: ComponentChildren;
}

export function Menu({ label, entries, children }: MenuProps) {
  const open = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open.value) return;
    const leave = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) open.value = false;
    };
    addEventListener("pointerdown", leave);
    box.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    return () => removeEventListener("pointerdown", leave);
  }, [open.value, open]);
  const close = (): void => {
    open.value = false;
    box.current?.querySelector("button")?.focus();
  };
  return (
    <div
      class="menu"
      ref={box}
      onKeyDown={(event) => {
        if (!open.value) return;
        if (event.key === "Escape") close();
        else if (!moveFocus(event, box.current)) return;
        event.stopPropagation();
        event.preventDefault();
      }}
    >
      <button
        type="button"
        class={children ? "" : "icon-only"}
        aria-haspopup="menu"
        aria-expanded={open.value}
        aria-label={children ? undefined : label}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        {children ?? <Icon name="more" />}
      </button>
      {open.value && (
        <div class="menu-list" role="menu" aria-label={label}>
          {entries.map((entry) => (
            <button
              key={entry.name}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close();
                entry.run();
              }}
            >
              {entry.icon && <Icon name={entry.icon} />}
              {entry.name}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function moveFocus({ key }: KeyboardEvent, box: HTMLElement | null): boolean {
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (step === undefined) return false;
  const entries = [...(box?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  const at = entries.indexOf(document.activeElement as HTMLElement);
  entries[(at + step + entries.length) % entries.length]?.focus();
  return true;
}
