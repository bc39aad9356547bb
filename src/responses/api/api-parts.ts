/** What the Responses API is made of: the engines, the shelf, the models, and who pays. */

import type { Clock } from "../../base/clock.ts";
import type { Engine, QueuedPlace } from "../../engine/engine.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { DirectModels } from "../direct/direct-model.ts";
import type { ModelTarget } from "../models/model-target.ts";
import type { InjectParts } from "../multi-agent/inject.ts";
import type { SizeLimits } from "../request/check-size.ts";
import type { AskedResponse, Found, RequestDefaults } from "../request/plan-response.ts";
import type { Admit } from "../run/admission.ts";
import type { HandedCalls } from "../run/handed-calls.ts";
import type { Charge, Settle } from "../run/response-money.ts";
import type { ThoughtSeal } from "../sealing/thought-seal.ts";
import type { Caller } from "../tenant/caller.ts";

export interface ApiParts extends Pick<InjectParts, "findInput"> {
  readonly clock: Clock;
  readonly shelf: Shelf;
  /** Where stored responses run. */
  readonly durable: Engine;
  /** Where the others run; what it keeps is removed when they end. */
  readonly passing: Engine;
  readonly defaults: RequestDefaults;
  readonly size?: SizeLimits | undefined;
  /** How long a stored response is kept; null for ever. */
  readonly ttlMs: number | null;
  /** The model that a request means. Rejects what is not there, too large or not allowed. */
  readonly findModel: (asked: AskedResponse, caller: Caller) => ModelTarget;
  /** Finds what a request names: its model, items, files, conversation. Rejects what is not there. */
  readonly find: (asked: AskedResponse, caller: Caller) => Promise<Found>;
  readonly admit: Admit;
  /** The place of a background response among those of its tenant. */
  readonly placeOf: (tenant: string) => QueuedPlace;
  /** Books what a response that needs no run has used; those that do book it themselves. */
  readonly charge?: Charge | undefined;
  /** What the ending of a stored response books. */
  readonly settle?: Settle | undefined;
  /** Model calls that were made before their runs began. */
  readonly handed: HandedCalls;
  /** Told of the beginning and the end of responses that need no run. */
  readonly observeDirect?: ((logged: LoggedEvent) => void) | undefined;
  /** The models of responses that need no run. */
  readonly models: DirectModels;
  readonly thoughtSealOf: (tenant: string) => ThoughtSeal;
  readonly sealKey: Uint8Array;
}
