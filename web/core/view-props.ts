export interface ViewProps {
  /** The parts of the path after the view's own name. */
  readonly rest: readonly string[];
}
