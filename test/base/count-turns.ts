/**
 * Counts how often the event loop turned while something was done. Work that takes no turn blocks
 * everything else.
 */

export async function countTurns<Out>(
  work: () => Promise<Out>,
): Promise<{ readonly turns: number; readonly value: Out }> {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    if (isOver) return;
    turns++;
    setImmediate(turn);
  };
  setImmediate(turn);
  try {
    const value = await work();
    return { turns, value };
  } finally {
    isOver = true;
  }
}
