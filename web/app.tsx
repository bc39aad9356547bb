/** The frame around every view: navigation, palette, keys, and the sign-in form over it when it is needed. */

import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, followLinks, go, toHref } from "./core/address.ts";
import { mayDo, session, signOut, wasSignedIn } from "./core/session.ts";
import { nextTheme, theme } from "./core/theme.ts";
import { Icon, Mark } from "./parts/icon.tsx";
import { Empty } from "./parts/loaded.tsx";
import { type Command, Palette } from "./parts/palette.tsx";
import { ShortcutsDialog } from "./parts/shortcuts.tsx";
import { SignIn } from "./sign-in.tsx";
import { VIEWS, type View } from "./views.ts";

const paletteOpen = signal(false);
const shortcutsOpen = signal(false);
const GROUPS = ["Work", "Insight", "Operate"] as const;

export function App() {
  useKeys();
  const [name = "runs", ...rest] = address.value.path;
  const view = VIEWS.find(({ path }) => path === name);
  useEffect(() => {
    document.title = `${view?.title ?? "Not found"} · Offshoot`;
  }, [view]);
  return (
    <div class="shell" onClick={followLinks}>
      <Side current={name} />
      <main class="main" id="main">
        {wasSignedIn.value && <Shown view={view} name={name} rest={rest} />}
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
      {shortcutsOpen.value && (
        <ShortcutsDialog
          views={VIEWS.filter(({ scope }) => mayDo(scope))}
          onClose={() => {
            shortcutsOpen.value = false;
          }}
        />
      )}
    </div>
  );
}

interface ShownProps {
  readonly view: View | undefined;
  readonly name: string;
  readonly rest: readonly string[];
}

function Shown({ view, name, rest }: ShownProps) {
  if (!view) {
    return (
      <Empty title={`There is no view “${name}”.`} icon="alert">
        <a href={toHref("runs")}>All runs</a>
      </Empty>
    );
  }
  if (session.value && !mayDo(view.scope)) {
    return (
      <Empty title={`This session may not see ${view.title.toLowerCase()}.`} icon="key">
        Sign in with a key that has the scope <code>{view.scope}</code>.
      </Empty>
    );
  }
  const View = view.component;
  return <View rest={rest} />;
}

function Side({ current }: { readonly current: string }) {
  const open = useSignal(false);
  const close = (): void => {
    open.value = false;
  };
  return (
    <header class={open.value ? "side open" : "side"}>
      <div class="brand">
        <a href={toHref("runs")}>
          <Mark /> Offshoot
        </a>
        <button
          type="button"
          class="menu-button plain icon-only"
          aria-expanded={open.value}
          aria-label="Menu"
          onClick={() => {
            open.value = !open.value;
          }}
        >
          <Icon name={open.value ? "close" : "menu"} />
        </button>
      </div>
      <button
        type="button"
        class="jump"
        onClick={() => {
          close();
          paletteOpen.value = true;
        }}
      >
        <span class="row">
          <Icon name="search" small /> Go to
        </span>
        <kbd>Ctrl K</kbd>
      </button>
      <nav aria-label="Views">
        {GROUPS.map((group) => (
          <NavGroup key={group} group={group} current={current} onGo={close} />
        ))}
      </nav>
      <Foot />
    </header>
  );
}

const THEME_ICONS = { system: "system", light: "sun", dark: "moon" } as const;

function Foot() {
  const { value } = session;
  return (
    <div class="side-foot">
      <p class="who">
        {value && (
          <>
            <span class="clip">{value.tenant ?? "default"}</span>
            <br />
            <span class="quiet">
              {value.token ? `${value.scopes.length} scopes` : "no key: only look"}
            </span>
          </>
        )}
      </p>
      <button
        type="button"
        class="plain icon-only"
        aria-label={`Colours: ${theme.value}`}
        title={`Colours: ${theme.value}`}
        onClick={nextTheme}
      >
        <Icon name={THEME_ICONS[theme.value]} />
      </button>
      {value && (
        <button
          type="button"
          class="plain icon-only"
          aria-label="Sign out"
          title="Sign out"
          onClick={signOut}
        >
          <Icon name="sign_out" />
        </button>
      )}
    </div>
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
      {views.map(({ path, title, icon, badge: Badge }) => (
        <a
          key={path}
          href={toHref(path)}
          onClick={onGo}
          aria-current={path === current ? "page" : undefined}
        >
          <Icon name={icon} />
          {title}
          {Badge && <Badge />}
        </a>
      ))}
    </>
  );
}

function toCommands(): Command[] {
  const views = VIEWS.filter(({ scope }) => mayDo(scope)).map(({ path, title, icon, key }) => ({
    name: title,
    icon,
    keys: `g ${key}`,
    run: () => go(path),
  }));
  return [
    ...views,
    {
      name: "Runs that wait for an answer",
      icon: "question",
      run: () => go("runs?status=waiting"),
    },
    { name: "Runs that failed", icon: "alert", run: () => go("runs?status=failed") },
    { name: "Settings of the server", icon: "gear", run: () => go("system?tab=settings") },
    { name: "Change the colours", icon: "sun", run: nextTheme },
    {
      name: "Keyboard shortcuts",
      icon: "question",
      keys: "?",
      run: () => {
        shortcutsOpen.value = true;
      },
    },
    { name: "Sign out", icon: "sign_out", run: signOut },
  ];
}

/** `Ctrl-K` opens the palette, `/` goes to the search field, `g` and a letter to a view, `?` shows all of them. */
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
      else takeKey(event);
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

function takeKey(event: KeyboardEvent): void {
  if (event.key === "/") goToSearch(event);
  else if (event.key === "?") shortcutsOpen.value = true;
}

function goByKey(pressed: string): void {
  const view = VIEWS.find(({ key, scope }) => key === pressed && mayDo(scope));
  if (view) go(view.path);
}

function goToSearch(event: KeyboardEvent): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("main input[type=search]")?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, dialog") !== null;
}
