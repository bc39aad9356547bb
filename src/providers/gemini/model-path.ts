import { toPathSegment } from "../path-segment.ts";

/** A model as a part of an address. A tuned model has a path of its own: `tunedModels/mine`. */
export function toModelPath(model: string): string {
  const path = model.includes("/") ? model : `models/${model}`;
  return path.split("/").map(toPathSegment).join("/");
}
