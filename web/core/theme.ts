/** Light, dark, or as the system has it; stored in this browser. */

import { signal } from "@preact/signals";

const KEPT_AS = "offshoot-console-theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>(readTheme());
apply(theme.value);

export function nextTheme(): void {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
  theme.value = next;
  localStorage.setItem(KEPT_AS, next);
  apply(next);
}

function apply(chosen: Theme): void {
  if (chosen === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", chosen);
}

function readTheme(): Theme {
  const kept = localStorage.getItem(KEPT_AS);
  return THEMES.find((name) => name === kept) ?? "system";
}
