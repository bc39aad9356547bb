/** A list in which the person chooses with the arrows and Enter. Pure. */

import { clipRow, PEN, plainRow, type Row } from "../screen/rows.ts";

export interface PickerRow {
  readonly label: string;
  /** Rejects if the choice is not possible any more. */
  choose(): Promise<void>;
}

export class Picker {
  readonly title: string;
  readonly choices: readonly PickerRow[];
  #at: number;

  /** The last entry is selected first: the newest is at the end, near the editor. */
  constructor(title: string, choices: readonly PickerRow[]) {
    this.title = title;
    this.choices = choices;
    this.#at = choices.length - 1;
  }

  move(step: -1 | 1): void {
    this.#at = Math.max(0, Math.min(this.choices.length - 1, this.#at + step));
  }

  async choose(): Promise<void> {
    await this.choices[this.#at]?.choose();
  }

  toRows(columns: number, maxRows: number): Row[] {
    const most = Math.max(1, maxRows - 1);
    const first = Math.max(
      0,
      Math.min(this.#at - Math.floor(most / 2), this.choices.length - most),
    );
    const rows = this.choices.slice(first, first + most).map(({ label }, at) => {
      const isPicked = first + at === this.#at;
      return clipRow(
        plainRow(`${isPicked ? "> " : "  "}${label}`, isPicked ? PEN.bold : ""),
        columns - 1,
      );
    });
    return [plainRow(`${this.title} (↑ ↓, Enter, Esc)`, PEN.warn), ...rows];
  }
}
