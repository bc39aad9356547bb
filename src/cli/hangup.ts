/**
 * SIGHUP means two things: the terminal was closed, or an operator wants the settings read again. It means the first
 * if there was a terminal when we began to listen and there is none now.
 */

import { closeSync, openSync } from "node:fs";

interface Meanings {
  readonly onGone?: () => void;
  readonly onReload?: () => void;
}

/** Makes a listener for SIGHUP that calls the function for its meaning. */
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

/** The system takes the terminal from its processes before it sends the signal. */
function canOpenTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}
