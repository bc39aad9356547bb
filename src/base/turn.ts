/** Waits one turn of the event loop, so that sockets, timers and other work go first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
