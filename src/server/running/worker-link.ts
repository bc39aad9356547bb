/** A worker's side of the line to the process that started it. */

import cluster from "node:cluster";
import type { Socket } from "node:net";
import type { PlaceCount } from "../../store/places.ts";
import type { Metric } from "../watching/metrics.ts";
import type { GivenConnections } from "./listener.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

export interface WorkerLink {
  /** From 1. */
  readonly number: number;
  tellReady(url: string): void;
  /** The numbers of all workers. */
  collectMetrics(): Promise<readonly Metric[]>;
  /** Those that the primary accepts. */
  readonly connections: GivenConnections;
  /** Counts for all workers. */
  readonly places: PlaceCount;
  close(): void;
}

interface LinkHandlers {
  readonly onDrain: () => void;
  readonly onReload: () => void;
  readonly onDamage: () => void;
  readonly measure: () => readonly Metric[];
}

export function openWorkerLink(handlers: LinkHandlers): WorkerLink {
  const { onDrain, onReload, onDamage, measure } = handlers;
  const waiting = new Map<number, (metrics: readonly Metric[]) => void>();
  const asking = new Map<number, (isTaken: boolean) => void>();
  let questions = 0;
  const tell = (message: FromWorker): void => {
    process.send?.(message);
  };
  const connections = createGivenConnections(tell);
  const hear = (message: ToWorker, socket?: Socket): void => {
    switch (message.type) {
      case "listening":
        return connections.onListening(message.port);
      case "connection":
        return connections.accept(socket);
      case "drain":
        return onDrain();
      case "reload":
        return onReload();
      case "damaged":
        return onDamage();
      case "measure":
        return tell({ type: "metrics", id: message.id, metrics: measure() });
      case "collected":
        waiting.get(message.id)?.(message.metrics);
        waiting.delete(message.id);
        return;
      case "taken":
        asking.get(message.id)?.(message.isTaken);
        asking.delete(message.id);
    }
  };
  process.on("message", hear);
  return {
    number: cluster.worker?.id ?? 1,
    tellReady: (url) => tell({ type: "ready", url }),
    collectMetrics: () =>
      new Promise((resolve) => {
        const id = questions++;
        waiting.set(id, resolve);
        tell({ type: "collect", id });
      }),
    connections,
    places: {
      async take(key, limit) {
        const id = questions++;
        const answered = new Promise<boolean>((resolve) => asking.set(id, resolve));
        tell({ type: "take", id, key, limit });
        if (!(await answered)) return undefined;
        let isTaken = true;
        return () => {
          if (isTaken) tell({ type: "leave", key });
          isTaken = false;
        };
      },
    },
    close: () => {
      process.off("message", hear);
      cluster.worker?.disconnect();
    },
  };
}

interface PrimaryConnections extends GivenConnections {
  /** The primary has said where they come from. */
  onListening(port: number): void;
  accept(socket: Socket | undefined): void;
}

function createGivenConnections(tell: (message: FromWorker) => void): PrimaryConnections {
  let take: ((socket: Socket) => void) | undefined;
  let onListening = (_port: number): void => {};
  return {
    open: (onConnection) =>
      new Promise((resolve) => {
        take = onConnection;
        onListening = resolve;
        tell({ type: "listen" });
      }),
    close: () => {
      take = undefined;
    },
    onListening: (port) => onListening(port),
    accept(socket) {
      // One that is not accepted the primary gives to another worker.
      if (!take) return void socket?.destroy();
      // Before anything of it is read.
      tell({ type: "accepted" });
      // One that was broken on the way is none.
      if (socket) take(socket);
    },
  };
}
