/** The console's start: it reads and removes the code in the address before anything is drawn. */

import { render } from "preact";
import { App } from "./app.tsx";
import { signInByFragment } from "./core/session.ts";
import "./core/theme.ts";

const root = document.getElementById("console");
await signInByFragment();
if (root) render(<App />, root);
