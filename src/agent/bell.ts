/** Wakes all who wait for something to change. They look whether it was for them, and wait again. */
export class Bell {
  readonly #waiting: (() => void)[] = [];

  ring(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves with the next ring, and when the signal is aborted. */
  heard(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}
