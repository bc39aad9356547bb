/** The parts of the Responses API: the engines, the shelf, the models, and who pays. */

import type { Clock } from "../../base/clock.ts";
import type { Engine, QueuedPlace } from "../../engine/engine.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { DirectModels } from "../direct/direct-model.ts";
import type { ModelTarget } from "../models/model-target.ts";
import type { InjectParts } from "../multi-agent/inject.ts";
import type { AskedResponse, RequestDefaults } from "../request/asked-response.ts";
import type { SizeLimits } from "../request/check-size.ts";
import type { FoundForRequest } from "../request/plan-response.ts";
import type { Admit } from "../run/admission.ts";
import type { HandedCalls } from "../run/handed-calls.ts";
import type { Charge, Settle } from "../run/response-money.ts";
import type { ThoughtSeal } from "../sealing/thought-seal.ts";
import type { Caller } from "../tenant/caller.ts";

export interface ApiParts extends Pick<InjectParts, "findInput"> {
  readonly clock: Clock;
  readonly shelf: Shelf;
  /** The engine of stored responses. */
  readonly durable: Engine;
  /** The engine of responses that are not stored; what it holds is removed when they end. */
  readonly passing: Engine;
  readonly defaults: RequestDefaults;
  readonly size?: SizeLimits | undefined;
  /** How long a stored response is kept; null for ever. */
  readonly ttlMs: number | null;
  /**
   * The model for a request. Rejects one that is unknown, too small for the input or not allowed.
   */
  readonly findModel: (asked: AskedResponse, caller: Caller) => ModelTarget;
  /**
   * Finds what a request names: its model, items, files, conversation. Rejects what does not exist.
   */
  readonly find: (asked: AskedResponse, caller: Caller) => Promise<FoundForRequest>;
  readonly admit: Admit;
  /** The queue place of a background response, in its tenant's lane. */
  readonly placeOf: (tenant: string) => QueuedPlace;
  /** Books the usage of a response that has no run; runs book it themselves. */
  readonly charge?: Charge | undefined;
  /** Books the usage of a stored response with its ending. */
  readonly settle?: Settle | undefined;
  /** Model calls that were made before their runs began. */
  readonly handed: HandedCalls;
  /** Called with the beginning and the end of responses that have no run. */
  readonly observeDirect?: ((logged: LoggedEvent) => void) | undefined;
  /** The models of responses that have no run. */
  readonly models: DirectModels;
  readonly thoughtSealOf: (tenant: string) => ThoughtSeal;
  readonly sealKey: Uint8Array;
}
