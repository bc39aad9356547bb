/**
 * A real Chromium for the console: found by `OFFSHOOT_CHROMIUM` or by its usual names on the path, started
 * once for the suite. Without one the tests are skipped and say so.
 */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { findProgram } from "../../../src/tools/sandbox/programs.ts";
import type { Lack } from "../../needs.ts";
import { PATIENCE_MS } from "../../patience.ts";

const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

const program =
  process.env["OFFSHOOT_CHROMIUM"] ||
  NAMES.map((name) => findProgram(name, process.env["PATH"] ?? "", "/")).find(Boolean);

export const BROWSER_LACK: Lack = program
  ? undefined
  : "there is no Chromium; install chromium-headless-shell or set OFFSHOOT_CHROMIUM";

export async function openBrowser(...args: string[]): Promise<Browser> {
  assert.ok(program, String(BROWSER_LACK));
  return await chromium.launch({ executablePath: program, args });
}

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly colorScheme: "light" | "dark";
}

export const LOOKS: readonly Look[] = [
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 1440, height: 900, colorScheme: "dark" },
  { width: 390, height: 844, colorScheme: "light" },
  { width: 390, height: 844, colorScheme: "dark" },
];

/** A tab of its own, without data of another one. */
export interface Tab extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors in the page: exceptions, refusals by the content policy, failed loads. */
  readonly troubles: readonly string[];
  /** Every address that the page requested. */
  readonly asked: readonly string[];
}

export async function openTab(browser: Browser, look: Partial<Look> = {}): Promise<Tab> {
  const { width = 1440, height = 900, colorScheme = "light" } = look;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const troubles: string[] = [];
  const asked: string[] = [];
  page.on("pageerror", (error) => troubles.push(`exception: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") troubles.push(message.text());
  });
  page.on("request", (request) => asked.push(request.url()));
  return {
    page,
    context,
    troubles,
    asked,
    [Symbol.asyncDispose]: () => context.close(),
  };
}

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/**
 * The problems that axe finds in the page as it is now, one line each. The policy refuses script tags, but
 * not this.
 */
export async function findObstacles(page: Page): Promise<string[]> {
  await page.evaluate(`${await readFile(axe, "utf8")};0`);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target} ${failureSummary}`),
  );
}
