/** The frame around every view: navigation, palette, keys, and the sign-in form over it when it is needed. */

import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, followLinks, go, toHref } from "./core/address.ts";
import { mayDo, session, signOut, wasSignedIn } from "./core/session.ts";
import { nextTheme, theme } from "./core/theme.ts";
import { Empty } from "./parts/loaded.tsx";
import { type Command, Palette } from "./parts/palette.tsx";
import { SignIn } from "./sign-in.tsx";
import { VIEWS, type View } from "./views.ts";

const paletteOpen = signal(false);
const GROUPS = ["Work", "Insight", "Operate"] as const;

export function App() {
  useKeys();
  const [name = "runs", ...rest] = address.value.path;
  const view = VIEWS.find(({ path }) => path === name);
  const Shown = view?.component;
  useEffect(() => {
    document.title = `${view?.title ?? "Not found"} · Offshoot`;
  }, [view]);
  return (
    <div class="shell" onClick={followLinks}>
      <Side current={name} />
      <main class="main" id="main">
        {wasSignedIn.value &&
          (Shown ? (
            <Shown rest={rest} />
          ) : (
            <Empty title={`There is no view "${name}".`}>
              <a href={toHref("runs")}>All runs</a>
            </Empty>
          ))}
      </main>
      {!session.value && <SignIn />}
      {paletteOpen.value && (
        <Palette
          commands={toCommands()}
          onClose={() => {
            paletteOpen.value = false;
          }}
        />
      )}
    </div>
  );
}

function Side({ current }: { readonly current: string }) {
  const open = useSignal(false);
  return (
    <header class={open.value ? "side open" : "side"}>
      <div class="brand">
        <a href={toHref("runs")} class="brand-link">
          Offshoot
        </a>
        <button
          type="button"
          class="menu-button small"
          aria-expanded={open.value}
          onClick={() => {
            open.value = !open.value;
          }}
        >
          Menu
        </button>
      </div>
      <nav aria-label="Views">
        {GROUPS.map((group) => (
          <NavGroup
            key={group}
            group={group}
            current={current}
            onGo={() => {
              open.value = false;
            }}
          />
        ))}
      </nav>
      <div class="side-foot row spread">
        <button
          type="button"
          class="small"
          onClick={() => {
            paletteOpen.value = true;
          }}
        >
          Go to <kbd>Ctrl K</kbd>
        </button>
        <button
          type="button"
          class="small"
          onClick={nextTheme}
          title="Light, dark, or as the system has it"
        >
          {theme.value}
        </button>
        {session.value && (
          <button type="button" class="small" onClick={signOut}>
            Sign out
          </button>
        )}
      </div>
    </header>
  );
}

interface NavGroupProps {
  readonly group: View["group"];
  readonly current: string;
  readonly onGo: () => void;
}

function NavGroup({ group, current, onGo }: NavGroupProps) {
  const views = VIEWS.filter((view) => view.group === group && mayDo(view.scope));
  if (views.length === 0) return null;
  return (
    <>
      <h2>{group}</h2>
      {views.map(({ path, title, badge: Badge }) => (
        <a
          key={path}
          href={toHref(path)}
          onClick={onGo}
          aria-current={path === current ? "page" : undefined}
        >
          {title}
          {Badge && <Badge />}
        </a>
      ))}
    </>
  );
}

function toCommands(): Command[] {
  const views = VIEWS.filter(({ scope }) => mayDo(scope)).map(({ path, title, key }) => ({
    name: title,
    keys: `g ${key}`,
    run: () => go(path),
  }));
  return [
    ...views,
    { name: "Change the colours", run: nextTheme },
    { name: "Sign out", run: signOut },
  ];
}

/** `Ctrl-K` opens the palette, `/` goes to the search field, `g` and a letter to a view. */
function useKeys(): void {
  useEffect(() => {
    let afterG = false;
    const take = (event: KeyboardEvent): void => {
      if (isPaletteKey(event)) {
        event.preventDefault();
        paletteOpen.value = true;
        return;
      }
      if (isWithModifier(event) || isTyping(event.target)) return;
      if (afterG) goByKey(event.key);
      else if (event.key === "/") goToSearch(event);
      afterG = !afterG && event.key === "g";
    };
    addEventListener("keydown", take);
    return () => removeEventListener("keydown", take);
  }, []);
}

function isPaletteKey({ ctrlKey, metaKey, key }: KeyboardEvent): boolean {
  return (ctrlKey || metaKey) && key.toLowerCase() === "k";
}

function isWithModifier({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey;
}

function goByKey(pressed: string): void {
  const view = VIEWS.find(({ key, scope }) => key === pressed && mayDo(scope));
  if (view) go(view.path);
}

function goToSearch(event: KeyboardEvent): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("input[type=search]")?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, dialog") !== null;
}
