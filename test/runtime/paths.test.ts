import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { projectConfigFile, userPaths } from "../../src/runtime/paths.ts";
import { createSandbox, put } from "./sandbox.ts";

describe("user paths", () => {
  it("are below the home folder unless told otherwise", () => {
    const paths = userPaths({}, "/home/ada");
    assert.equal(paths.configFile, "/home/ada/.config/offshoot/config.yaml");
    assert.equal(paths.dataDir, "/home/ada/.local/share/offshoot");
    assert.equal(paths.runsFile, "/home/ada/.local/share/offshoot/runs.db");
    assert.equal(paths.modelsDir, "/home/ada/.local/share/offshoot/models");
    assert.equal(paths.trustFile, "/home/ada/.local/share/offshoot/trusted.json");
  });

  it("follow the XDG variables, except for relative ones", () => {
    const env = { XDG_CONFIG_HOME: "/etc/ada", XDG_DATA_HOME: "data" };
    const paths = userPaths(env, "/home/ada");
    assert.equal(paths.configFile, "/etc/ada/offshoot/config.yaml");
    assert.equal(paths.dataDir, "/home/ada/.local/share/offshoot");
  });

  it("follow our own variables first", () => {
    const env = { OFFSHOOT_CONFIG: "/a.yaml", OFFSHOOT_DATA: "/b", XDG_DATA_HOME: "/c" };
    const paths = userPaths(env, "/home/ada");
    assert.equal(paths.configFile, "/a.yaml");
    assert.equal(paths.dataDir, "/b");
  });
});

describe("project file", () => {
  it("is the nearest one at or above the folder", (t) => {
    const { home, cwd, projectFile } = createSandbox(t);
    put(projectFile, "");
    mkdirSync(join(cwd, "src/deep"), { recursive: true });
    assert.equal(projectConfigFile(join(cwd, "src/deep"), home), projectFile);
    put(join(cwd, "src/.offshoot/config.yaml"), "");
    assert.equal(
      projectConfigFile(join(cwd, "src/deep"), home),
      join(cwd, "src/.offshoot/config.yaml"),
    );
  });

  it("is looked for up to the folder with .git and no further", (t) => {
    const { home, cwd, projectFile } = createSandbox(t);
    put(projectFile, "");
    mkdirSync(join(cwd, "inner/.git"), { recursive: true });
    assert.equal(projectConfigFile(join(cwd, "inner"), home), undefined);
    put(join(cwd, "inner/.offshoot/config.yaml"), "");
    assert.equal(
      projectConfigFile(join(cwd, "inner"), home),
      join(cwd, "inner/.offshoot/config.yaml"),
    );
  });

  it("is never that of the home folder", (t) => {
    const { home, cwd } = createSandbox(t);
    put(join(home, ".offshoot/config.yaml"), "");
    assert.equal(projectConfigFile(cwd, home), undefined);
    assert.equal(projectConfigFile(home, home), undefined);
  });
});
