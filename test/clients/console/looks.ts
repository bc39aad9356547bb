/**
 * Pictures of every view, for people and for `docs/console.md`. Kept only if `OFFSHOOT_PICTURES` names a
 * folder.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";

const KEPT = process.env["OFFSHOOT_PICTURES"];

export interface Pictures extends AsyncDisposable {
  take(page: Page, name: string): Promise<void>;
}

export async function openPictures(): Promise<Pictures> {
  const folder = KEPT ?? (await mkdtemp(join(tmpdir(), "offshoot-pictures-")));
  return {
    async take(page, name) {
      await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
    },
    async [Symbol.asyncDispose]() {
      if (!KEPT) await rm(folder, { recursive: true, force: true });
    },
  };
}
