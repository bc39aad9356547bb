/** Lets everything else that waits for the event loop go first: sockets, timers, other work. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
