/** Every generated page, by its name in `docs/`. */

import { renderCliPage, renderConfigPage, renderErrorsPage } from "./command-pages.ts";
import { renderDelegationPage } from "./delegation-page.ts";
import { renderLedgerPage } from "./ledger-page.ts";
import { renderMatrixPage } from "./matrix-page.ts";
import { renderEmbeddedPage, renderProvidersPage, renderTestingPage } from "./model-pages.ts";
import { renderOptionsPage } from "./options-page.ts";
import { renderApiPage, renderServerPage } from "./server-page.ts";
import { renderSafetyPage, renderToolsPage } from "./tool-pages.ts";

export const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  "api.md": renderApiPage,
  "cli.md": renderCliPage,
  "config.md": renderConfigPage,
  "delegation.md": renderDelegationPage,
  "embedded.md": renderEmbeddedPage,
  "errors.md": renderErrorsPage,
  "ledger.md": renderLedgerPage,
  "matrix.md": renderMatrixPage,
  "options.md": renderOptionsPage,
  "providers.md": renderProvidersPage,
  "safety.md": renderSafetyPage,
  "server.md": renderServerPage,
  "testing.md": renderTestingPage,
  "tools.md": renderToolsPage,
};
