/** Every generated page, by its name in `docs/`. */

import { renderCliPage, renderConfigPage, renderErrorsPage } from "./command-pages.ts";
import { renderLedgerPage } from "./ledger-page.ts";
import { renderEmbeddedPage, renderProvidersPage, renderTestingPage } from "./model-pages.ts";
import { renderSafetyPage, renderToolsPage } from "./tool-pages.ts";

export const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  "cli.md": renderCliPage,
  "config.md": renderConfigPage,
  "embedded.md": renderEmbeddedPage,
  "errors.md": renderErrorsPage,
  "ledger.md": renderLedgerPage,
  "providers.md": renderProvidersPage,
  "safety.md": renderSafetyPage,
  "testing.md": renderTestingPage,
  "tools.md": renderToolsPage,
};
