/** The result of one check of `offshoot doctor`. */

import type { Io } from "./io.ts";

export interface DoctorCheck {
  readonly name: string;
  /** A gap limits what can be done. Something broken makes commands fail. */
  readonly status: "ok" | "gap" | "broken";
  readonly found: string;
  /** How to fix it; undefined if nothing is missing. */
  readonly advice: string | undefined;
}

export type DoctorSurroundings = Pick<Io, "env" | "home" | "cwd">;

export function ok(name: string, found: string): DoctorCheck {
  return { name, status: "ok", found, advice: undefined };
}

export function gap(name: string, found: string, advice: string | undefined): DoctorCheck {
  return { name, status: "gap", found, advice };
}

export function broken(name: string, found: string, advice: string): DoctorCheck {
  return { name, status: "broken", found, advice };
}
