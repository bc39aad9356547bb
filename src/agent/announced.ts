/**
 * Counts the children that the calls of a turn will still start. All children of the turn get the
 * same share, started or not.
 */
export class Announced {
  readonly #byCall = new Map<string, number>();

  get count(): number {
    let count = 0;
    for (const children of this.#byCall.values()) count += children;
    return count;
  }

  has(callKey: string): boolean {
    return this.#byCall.has(callKey);
  }

  /** Returns by how many `children` exceeds what the call had announced. */
  raise(callKey: string, children: number): number {
    const before = this.#byCall.get(callKey) ?? 0;
    if (children > before) this.#byCall.set(callKey, children);
    return Math.max(0, children - before);
  }

  /** One announced child of the call has started, or will not start. */
  leave(callKey: string): void {
    const rest = (this.#byCall.get(callKey) ?? 1) - 1;
    if (rest > 0) this.#byCall.set(callKey, rest);
    else this.#byCall.delete(callKey);
  }

  /** The call starts no further children. Returns whether any were still announced. */
  withdraw(callKey: string): boolean {
    return this.#byCall.delete(callKey);
  }
}
