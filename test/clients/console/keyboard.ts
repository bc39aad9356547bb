/** Finds what the keyboard does not reach in a page: it is walked with Tab, like by a user. */

import type { Page } from "playwright-core";

/**
 * Elements that take the focus, and elements that a mouse may press. Rows of lists and trees are reached
 * with arrows from their list.
 */
const MARK_ALL = `(() => {
  const isShown = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0;
  const stops = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
    .filter((one) => isShown(one) && !one.disabled && one.tabIndex >= 0);
  stops.forEach((one, at) => one.setAttribute("data-stop", at));
  const name = (one) => one.tagName.toLowerCase() + " " + (one.getAttribute("aria-label") ?? one.textContent ?? "").trim().slice(0, 40);
  const pressed = [...document.querySelectorAll("main *")].filter((one) =>
    isShown(one) && getComputedStyle(one).cursor === "pointer" && !one.disabled &&
    !one.closest("a[href], button, label, input, select, summary, [role=option], [role=treeitem], [role=list] [role=listitem]"));
  document.activeElement?.blur();
  return { stops: stops.map(name), pressed: pressed.map(name) };
})()`;

export async function findUnreachable(page: Page): Promise<string[]> {
  const { stops, pressed } = await page.evaluate<{ stops: string[]; pressed: string[] }>(MARK_ALL);
  const reached = new Set<number>();
  // One more than there are: the first press may go to the last focus.
  for (let press = 0; press < stops.length * 2 && reached.size < stops.length; press++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate<number>("Number(document.activeElement?.dataset.stop ?? -1)");
    if (at >= 0) reached.add(at);
  }
  const missed = stops.filter((_, at) => !reached.has(at)).map((name) => `Tab misses ${name}`);
  return [...missed, ...pressed.map((name) => `only a mouse presses ${name}`)];
}
