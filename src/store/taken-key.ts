/**
 * The journal key under which `takeSignal` writes down what it took, in the same transaction.
 *
 * Taking removes the message for good, so a crash right after it would lose the message if the
 * journal did not have it already. Every store does this; the engine reads it back on replay.
 */

/** `index` counts the messages taken on the topic before, from 0. */
export function takenKey(topic: string, index: number): string {
  return `@taken:${topic}:${index}`;
}
