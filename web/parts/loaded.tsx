/** The place for data in a view while the data is loading, missing or failed. */

import type { ComponentChildren } from "preact";
import type { Action } from "../core/act.ts";
import type { Resource } from "../core/resource.ts";
import { Icon, type IconName } from "./icon.tsx";

interface LoadedProps<Value> {
  readonly of: Resource<Value>;
  readonly children: (value: Value) => ComponentChildren;
}

/**
 * Data that was loaded before stays on the page if loading it again fails, with the reason above it.
 */
export function Loaded<Value>({ of: resource, children }: LoadedProps<Value>) {
  const value = resource.value.value;
  const problem = resource.problem.value;
  return (
    <>
      {problem && (
        <Problem
          text={problem.message}
          isLost={problem.status === 0}
          again={() => resource.reload()}
        />
      )}
      {value !== undefined ? children(value) : !problem && <p class="loading">Loading…</p>}
    </>
  );
}

interface ProblemProps {
  readonly text: string;
  /** The server does not answer: the page tries again automatically. */
  readonly isLost?: boolean;
  readonly again?: () => void;
}

export function Problem({ text, isLost = false, again }: ProblemProps) {
  return (
    <div class={isLost ? "notice warn" : "notice bad"} role="alert">
      <Icon name="alert" />
      <span class="grow">{text}</span>
      {again && (
        <button type="button" class="small" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** The result of a person's action. */
export function Said({ of: { said, failed } }: { readonly of: Action }) {
  if (said.value === "") return null;
  return (
    <p class={failed.value ? "notice bad" : "notice good"} role={failed.value ? "alert" : "status"}>
      {said.value}
    </p>
  );
}

/** An empty list says what would be here, and how it gets here. */
export function Empty({
  title,
  icon = "dot",
  children,
}: {
  readonly title: string;
  readonly icon?: IconName;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p>{title}</p>
      {children && <div>{children}</div>}
    </div>
  );
}

/** The head of a view: its title, and its actions. */
export function ViewHead({
  title,
  about,
  children,
}: {
  readonly title: string;
  readonly about?: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <header class="view-head">
      <div class="grow">
        <h1>{title}</h1>
        {about && <p>{about}</p>}
      </div>
      {children && <div class="row">{children}</div>}
    </header>
  );
}

export function Section({
  title,
  tools,
  children,
}: {
  readonly title: string;
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="section" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {tools && <div class="row">{tools}</div>}
      </header>
      {children}
    </section>
  );
}
