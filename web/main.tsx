/** The console's start: the code of the address first, so that it is gone before anything is drawn. */

import { render } from "preact";
import { App } from "./app.tsx";
import { signInByFragment } from "./core/session.ts";
import "./core/theme.ts";

const root = document.getElementById("console");
await signInByFragment();
if (root) render(<App />, root);
