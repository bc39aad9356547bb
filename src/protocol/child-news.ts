/** What a run is told of its background children while it works. */

/** What a run was told of its background children before its next turn, as a message of the user's role. */
export interface ChildNews {
  readonly type: "child_news";
  /** The last turn before it. */
  readonly turn: number;
  /** True where the model had given its answer and was asked once more for this; else it is not there. */
  readonly final?: boolean;
  readonly news: readonly ChildWord[];
  readonly at_ms: number;
}

export interface ChildWord {
  readonly child_id: string;
  readonly label: string;
  readonly kind: "report" | "question";
  /** What it is known by once it was told: the child's id, or the question's key. */
  readonly mark: string;
  /** Its envelope as JSON, or what it asks. */
  readonly text: string;
}
