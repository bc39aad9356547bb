/**
 * SIGHUP means two things: the terminal was closed, or an operator wants the settings read again. It is
 * the first where there was a terminal when we began to listen and there is none any more.
 */

import { closeSync, openSync } from "node:fs";

interface Meanings {
  readonly onGone?: () => void;
  readonly onReload?: () => void;
}

/** A listener for SIGHUP that calls what it means. */
export function createHangup(
  { onGone, onReload }: Meanings,
  hasTerminal: () => boolean = canOpenTerminal,
): () => void {
  const hadTerminal = hasTerminal();
  return () => {
    if (hadTerminal && !hasTerminal()) onGone?.();
    else onReload?.();
  };
}

/** The system takes it from its processes before it sends the signal. */
function canOpenTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}
