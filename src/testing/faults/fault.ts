/**
 * A fault is a way in which a server's answer goes wrong, to be put into an upstream: `faults:
 * cutAfter(200)`.
 *
 * It replaces the model's answer (`replace`), changes whole frames of a stream (`frames`), or
 * changes bytes (`bytes`). Several faults together are applied in that order, whatever their order
 * in the list. Frames are those of an event stream; in a plain JSON answer only the bytes are
 * changed.
 */

import { type Exchange, isStream, type Piece } from "../exchange/exchange.ts";

export type Pieces = AsyncIterable<Piece>;

export interface Fault {
  readonly name: string;
  /** Replaces the model's answer, and the model is not asked; `undefined` lets the request pass. */
  readonly replace?: () => Exchange | undefined;
  readonly frames?: (frames: Pieces) => Pieces;
  readonly bytes?: (pieces: Pieces) => Pieces;
}

/** One list of faults for every request, or a choice by the request's number, from 1. */
export type Faults =
  | Fault
  | readonly Fault[]
  | ((requestNumber: number) => Fault | readonly Fault[] | undefined);

export function faultsOf(faults: Faults | undefined, requestNumber: number): readonly Fault[] {
  const chosen = typeof faults === "function" ? faults(requestNumber) : faults;
  if (!chosen) return [];
  return "name" in chosen ? [chosen] : chosen;
}

export function replacementOf(faults: readonly Fault[]): Exchange | undefined {
  for (const { replace } of faults) {
    const exchange = replace?.();
    if (exchange) return exchange;
  }
  return undefined;
}

export function applyFaults(faults: readonly Fault[], exchange: Exchange): Exchange {
  let { body } = exchange;
  if (isStream(exchange)) for (const { frames } of faults) body = frames?.(body) ?? body;
  for (const { bytes } of faults) body = bytes?.(body) ?? body;
  return { ...exchange, body };
}
