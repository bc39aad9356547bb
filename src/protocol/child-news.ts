/** News of background children that a run gets while it works. */

/** News of its background children that a run got before its next turn, as a message of the user's role. */
export interface ChildNews {
  readonly type: "child_news";
  /** The last turn before it. */
  readonly turn: number;
  /**
   * True if the model had given its answer and was asked once more because of this news; otherwise missing.
   */
  readonly final?: boolean;
  readonly news: readonly ChildWord[];
  readonly at_ms: number;
}

export interface ChildWord {
  readonly child_id: string;
  readonly label: string;
  readonly kind: "report" | "question";
  /** The key of this news, so that it is delivered once: the child's id, or the question's key. */
  readonly mark: string;
  /** The child's envelope as JSON, or its question. */
  readonly text: string;
}
