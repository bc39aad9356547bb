/**
 * Which worker gets which connection: each in turn, and none a second one before it has taken the first, so that a
 * worker that is busy or dying holds up one at most. What a worker has not taken when it is gone goes to another.
 */

export interface ConnectionTurns<Worker, Connection> {
  add(connection: Connection): void;
  /** From now on the worker is given connections. */
  join(worker: Worker): void;
  /** The worker has the connection that it was given. Returns that connection. */
  taken(worker: Worker): Connection | undefined;
  /** The worker is gone; it takes nothing any more. */
  leave(worker: Worker): void;
  /** Empties it: returns what no worker has taken. */
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
      if (connection === undefined) return;
      given.delete(worker);
      // It came before all that wait.
      waiting.unshift(connection);
      settle();
    },
    takeAll() {
      const all = [...given.values(), ...waiting];
      given.clear();
      waiting = [];
      return all;
    },
  };
}
