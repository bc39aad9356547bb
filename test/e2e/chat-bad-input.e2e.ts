/** Failures around a chat: one line each, the session continues, and no typed text is lost. */

import assert from "node:assert/strict";
import { mkdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { programLack, unless } from "../needs.ts";
import { type ChatPlace, createChatPlace, openChat } from "./chat-place.ts";
import { createPlace } from "./command.ts";
import { startInTmux, type Tmux } from "./tmux.ts";

const held = unless(programLack("tmux"));

async function writeSettings({ place }: ChatPlace, settings: object): Promise<void> {
  const folder = join(place.home, ".config/offshoot");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "config.yaml"), JSON.stringify(settings));
}

/** The chat answers, and its rows are in order: the user's words begin a line. */
async function checkGoesOn(tmux: Tmux): Promise<void> {
  await tmux.type("say it goes on", "Enter");
  await tmux.sees(/^> say it goes on$/);
  await tmux.sees(/^it goes on$/);
}

describe(...held("a chat where something is wrong (needs tmux)"), () => {
  it("names an AGENTS.md of 50 MB and a broken SKILL.md, and continues without them", async () => {
    await using place = await createChatPlace({
      "AGENTS.md": "x",
      ".agents/skills/bad/SKILL.md": "no front matter",
    });
    await truncate(join(place.place.cwd, "AGENTS.md"), 50 * 1024 * 1024);
    await using tmux = await openChat(place);
    await tmux.sees(
      /^AGENTS\.md is too large \(50\.0 MB; 1 MB is the most\), so the model does not get it/,
    );
    await tmux.sees(/^The skill `bad` is left out/);
    await checkGoesOn(tmux);
  });

  it("names settings of a project that are ignored and servers that cannot be used, above its rows", async () => {
    await using place = await createChatPlace({
      ".offshoot/config.yaml": "url: http://a.example\n",
    });
    await writeSettings(place, { mcp_servers: { bad: { command: "false" } } });
    await using tmux = await openChat(place);
    await tmux.sees(/^\S+config\.yaml is not trusted/);
    await tmux.sees(/^The MCP server `bad` cannot be used/);
    await checkGoesOn(tmux);
  });

  it("reports a missing session, and one of another folder, and works in this one", async () => {
    await using place = await createChatPlace();
    const elsewhere = join(place.place.cwd, "elsewhere");
    await mkdir(elsewhere);
    {
      await using first = await openChat({ ...place, place: { ...place.place, cwd: elsewhere } });
      await first.type("say alpha", "Enter");
      await first.sees(/^alpha$/);
    }
    const { stdout } = await place.place.run(["sessions", "list", "--json"]);
    const [{ id = "" } = {}] = JSON.parse(stdout) as { id?: string }[];
    await using tmux = await openChat(place, { more: ["--session", "conv_gone"] });
    await tmux.sees(/^There is no session `conv_gone`\./);
    await tmux.type(`/resume ${id}`, "Enter");
    await tmux.sees(/^Continuing: say alpha \(1 turn\)$/);
    await tmux.sees(/^It began in \S*elsewhere\. Tools work in/);
    await tmux.type("how often did I speak?", "Enter");
    await tmux.sees(/^2 times$/);
  });

  it("reports that it continues in a copy while another chat works in the session", async () => {
    await using place = await createChatPlace();
    await using first = await openChat(place);
    await first.type("say alpha", "Enter");
    await first.sees(/^alpha$/);
    await first.type("hold", "Enter");
    await first.sees(/^Holding$/);
    await using second = await openChat(place, { more: ["-c"] });
    await second.sees(/^Continuing: say alpha/);
    await second.type("how often did I speak?", "Enter");
    await second.sees(
      /^Another run of this session is at work, so this continues in a copy of it\.$/,
    );
    await second.sees(/^2 times$/);
    place.release();
    await first.sees(/^still$/);
    await first.type("how often did I speak?", "Enter");
    await first.sees(/^3 times$/);
  });

  it("reports a hook that fails and one that hangs, and continues", async () => {
    await using place = await createChatPlace({ "a.txt": "one\ntwo\n" });
    await writeSettings(place, {
      hooks: {
        broken: { on: "before_tool", match: "edit", command: "exit 7", on_error: "go_on" },
        slow: { on: "before_tool", match: "edit", command: "sleep 1000", timeout: 0.3 },
      },
    });
    await using tmux = await openChat(place);
    await tmux.type("edit please", "Enter");
    await tmux.sees(/^hook broken: exited with 7/);
    await tmux.sees(/^hook slow: was stopped after 0\.3 s/);
    await tmux.sees(/^It was refused: .*hook slow/);
    await checkGoesOn(tmux);
  });

  it("reports a hook that denies the run, and gives the text back", async () => {
    await using place = await createChatPlace();
    await writeSettings(place, {
      hooks: { no: { on: "before_run", command: "echo not today >&2; exit 2" } },
    });
    await using tmux = await openChat(place);
    await tmux.type("say alpha", "Enter");
    await tmux.sees(/The run was denied: hook no denied it: not today/);
    await tmux.type("Up");
    await tmux.sees(/^> say alpha$/);
  });

  it("reports a key that the vendor refuses, without the key, and keeps the text in the history", async () => {
    await using place = await createChatPlace({}, { key: "right" });
    await using tmux = await openChat(place, {
      more: ["--api-key-name", "MY_KEY"],
      env: { MY_KEY: "sk-wrong-0123456789" },
    });
    await tmux.type("say alpha", "Enter");
    await tmux.sees(/^failed: .*(401|key)/i);
    assert.ok(!(await tmux.read()).some((line) => line.includes("0123456789")));
    await tmux.type("Up");
    await tmux.sees(/^> say alpha$/);
    await tmux.type("C-u");
    await tmux.type("/model", "Enter");
    await tmux.sees(/^model: custom\/test-model/);
  });

  it("refuses an unknown model, and continues with the current one", async () => {
    await using place = await createPlace();
    await using tmux = await startInTmux(place, ["chat", "-m", "embedded"], [100, 24]);
    await tmux.sees(/^model: embedded\/offline/);
    await tmux.type("/model opnai/x", "Enter");
    await tmux.sees(/`opnai`.*openai/);
    await tmux.sees(/^embedded\/offline$/);
    await tmux.type("say hello", "Enter");
    await tmux.sees(/^hello$/);
  });

  it("refuses text with a file that cannot be sent, and unknown tools", async () => {
    await using place = await createChatPlace({ "broken.bin": "\0\0" });
    await using tmux = await openChat(place);
    await tmux.type("what is @broken.bin ?", "Enter");
    await tmux.sees(/^`broken\.bin` is neither text/);
    await tmux.sees(/^> what is @broken\.bin \?$/);
    await tmux.type("C-u");
    await tmux.type("/tools nonsense", "Enter");
    await tmux.sees(/^No tool fits `nonsense`\./);
    await checkGoesOn(tmux);
  });
});
