/** What a view shows while its data is loading, missing or failed, in the place where the data will be. */

import type { ComponentChildren } from "preact";
import type { Resource } from "../core/resource.ts";

interface LoadedProps<Value> {
  readonly of: Resource<Value>;
  readonly children: (value: Value) => ComponentChildren;
}

export function Loaded<Value>({ of: resource, children }: LoadedProps<Value>) {
  const value = resource.value.value;
  const problem = resource.problem.value;
  return (
    <>
      {problem !== "" && (
        <p class="problem" role="alert">
          {problem}{" "}
          <button type="button" onClick={() => resource.reload()}>
            Try again
          </button>
        </p>
      )}
      {value !== undefined
        ? children(value)
        : problem === "" && <p class="quiet loading">Loading…</p>}
    </>
  );
}

/** An empty list says what would be here, and how it gets here. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p>{title}</p>
      {children && <div class="quiet">{children}</div>}
    </div>
  );
}
