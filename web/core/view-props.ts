export interface ViewProps {
  /** What follows the view's own name in the path. */
  readonly rest: readonly string[];
}
