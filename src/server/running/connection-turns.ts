/**
 * Decides which worker gets which connection: each in turn, and no second one before it has taken the first. So a
 * worker that is busy or dying delays one connection at most. A connection that a worker did not take before it was
 * gone goes to another one.
 */

export interface ConnectionTurns<Worker, Connection> {
  add(connection: Connection): void;
  /** Gives connections to the worker from now on. */
  join(worker: Worker): void;
  /** Notes that the worker has taken its connection, and returns that connection. */
  taken(worker: Worker): Connection | undefined;
  /**
   * Notes that the worker is gone, or takes nothing any more: another one gets the connection that it was given. False
   * if no worker is left.
   */
  leave(worker: Worker): boolean;
  /** Returns all connections that no worker has taken, and forgets them. */
  takeAll(): Connection[];
}

export function createConnectionTurns<Worker, Connection>(
  give: (worker: Worker, connection: Connection) => void,
): ConnectionTurns<Worker, Connection> {
  // In the order of their turns.
  const free = new Set<Worker>();
  const given = new Map<Worker, Connection>();
  let waiting: Connection[] = [];

  function settle(): void {
    for (const worker of free) {
      const connection = waiting.shift();
      if (connection === undefined) return;
      free.delete(worker);
      given.set(worker, connection);
      give(worker, connection);
    }
  }

  return {
    add(connection) {
      waiting.push(connection);
      settle();
    },
    join(worker) {
      free.add(worker);
      settle();
    },
    taken(worker) {
      const connection = given.get(worker);
      if (!given.delete(worker)) return undefined;
      free.add(worker);
      settle();
      return connection;
    },
    leave(worker) {
      free.delete(worker);
      const connection = given.get(worker);
      given.delete(worker);
      // This connection came before all that wait.
      if (connection !== undefined) waiting.unshift(connection);
      settle();
      return free.size + given.size > 0;
    },
    takeAll() {
      const all = [...given.values(), ...waiting];
      given.clear();
      waiting = [];
      return all;
    },
  };
}
