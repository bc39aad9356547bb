/** Opens at the first call; all calls get the same result, and a failed opening is tried again. */
export function once<Out>(open: () => Promise<Out>): () => Promise<Out> {
  let opened: Promise<Out> | undefined;
  return async () => {
    opened ??= open();
    try {
      return await opened;
    } catch (thrown) {
      opened = undefined;
      throw thrown;
    }
  };
}
