/** A server's settings and models for people to read, as types that a page can import by themselves. */

export interface SettingView {
  readonly name: string;
  /** Null if nothing set it. */
  readonly value: unknown;
  /** `default`, a file, a variable or a flag. */
  readonly source: string;
  readonly summary: string;
}

export interface ModelFacts {
  readonly context_tokens: number | null;
  readonly max_output_tokens: number | null;
  /** USD for a million tokens; null if it is not known. */
  readonly price: { readonly input: number; readonly output: number } | null;
}
