/** How often the event loop turned while something was done: nobody else was served in work that takes no turn. */

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
