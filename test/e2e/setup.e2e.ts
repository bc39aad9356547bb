/** `offshoot` without a model, on a real terminal: from nothing to a chat that answers. */

import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import { programLack, unless } from "../needs.ts";
import { createPlace } from "./command.ts";
import { startInTmux } from "./tmux.ts";
import { RESPONSES } from "./wires.ts";

const KEY = "Grm7pQ2vXw9sKd4zAb";
const BAD = "Hrn8qR3wYx0tLe5aCd";

const held = unless(programLack("tmux"));

describe(...held("the first hour on a terminal (needs tmux)"), () => {
  it("leads from a refused key to a chat that answers, and shows no key", async () => {
    await using place = await createPlace();
    const engine = respond(() => reply.text("Hello from the scripted vendor."));
    await using upstream = await RESPONSES.start({ key: KEY, engine });
    await using tmux = await startInTmux(place, [], [100, 40], {
      env: { OPENAI_BASE_URL: upstream.url },
    });
    await tmux.sees(/keys in the environment: +none/);
    await tmux.sees(/^> $|^>$/);
    await tmux.type("openai", "Enter");
    await tmux.sees(/Key of openai \(not shown/);
    await tmux.type(BAD, "Enter");
    await tmux.sees(/The key is refused\. .*401: Incorrect API key provided/);
    await tmux.sees(/It is removed again/);
    await tmux.paste(KEY);
    await tmux.type("Enter");
    await tmux.sees(/^It answers\./);
    await tmux.sees(/Which model of openai/);
    await tmux.type("Enter");
    await tmux.sees(/The default model is openai\//);
    await tmux.sees(/openai\/\S+.*│|openai\/\S+ ·|\/help/);
    await tmux.type("hello", "Enter");
    await tmux.sees(/Hello from the scripted vendor\./);
    await tmux.type("C-c");
    await tmux.type("C-c");
    await tmux.sees(/^over$/);
    const screen = (await tmux.read()).join("\n");
    assert.ok(!screen.includes(KEY) && !screen.includes(BAD), "no key is on the screen");
    assert.match(screen, /[^-]echo\b/);
    const file = join(place.home, ".local/share/offshoot/auth/OPENAI_API_KEY.json");
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const config = await readFile(join(place.home, ".config/offshoot/config.yaml"), "utf8");
    assert.match(config, /^model: openai\//m);
  });

  it("is left with Ctrl-C while a key is typed, and the terminal shows typed text again", async () => {
    await using place = await createPlace();
    await using tmux = await startInTmux(place, [], [60, 24]);
    await tmux.sees(/^>/);
    await tmux.type("1", "Enter");
    await tmux.sees(/Key of openai/);
    await tmux.type("half a key", "C-c");
    await tmux.sees(/^Left\. What you have set so far stays/);
    await tmux.sees(/^over$/);
    const screen = (await tmux.read()).join("\n");
    assert.ok(!screen.includes("half a key"));
    assert.match(screen, /[^-]icanon\b[\s\S]*[^-]echo\b/);
  });

  it("is left with Ctrl-C at a question, with exit code 130", async () => {
    await using place = await createPlace();
    await using tmux = await startInTmux(place, ["setup"], [60, 24]);
    await tmux.sees(/^>/);
    await tmux.type("C-c");
    await tmux.sees(/^Left\. What you have set so far stays/);
    await tmux.sees(/^over$/);
  });
});
