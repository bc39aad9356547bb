/** The keys of every list: the same in all of them. */

/** Arrows, Page Up and Down, Home and End move; Enter opens. */
export function moveByKeys(
  event: KeyboardEvent,
  active: { value: number },
  count: number,
  open: (at: number) => void,
): void {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    j: 1,
    ArrowUp: -1,
    k: -1,
    PageDown: 20,
    PageUp: -20,
    Home: -count,
    End: count,
  };
  const step = steps[event.key];
  if (step !== undefined) active.value = Math.max(0, Math.min(count - 1, active.value + step));
  else if (event.key === "Enter") open(active.value);
  else return;
  event.preventDefault();
}
