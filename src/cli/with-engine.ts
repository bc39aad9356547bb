import type { Engine } from "../engine/engine.ts";
import { createLocalEngine } from "../engine/local-engine.ts";
import type { Store } from "../store/store.ts";

/** Works with an engine that runs nothing itself, over a command's store, which it leaves open. */
export async function withEngine<Out>(
  store: Store,
  work: (engine: Engine) => Promise<Out>,
): Promise<Out> {
  const engine = createLocalEngine({ store: keepOpen(store) });
  try {
    return await work(engine);
  } finally {
    await engine.stop();
  }
}

/** An engine that stops closes its store. */
function keepOpen(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "close") return async () => {};
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
