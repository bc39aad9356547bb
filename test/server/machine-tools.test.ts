/** Tools of a machine over HTTP: what clients send them with, and what comes back. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";

const call = (name: string, input: object) =>
  reply.calls([{ name, arguments: JSON.stringify(input) }]);

describe("tools of a machine over HTTP", () => {
  it("go to the client and come back over a chain of responses", async (t) => {
    const diff = "@@\n-a\n+b\n";
    const patch = call("apply_patch", { type: "update_file", path: "a.txt", diff });
    const server = await startServer(t, script(patch, reply.text("Done.")));
    const tools = [{ type: "apply_patch" }];
    const events = await server.stream({ input: "Change it", tools });
    const added = events.find(({ type }) => type === "response.output_item.added");
    assert.ok(added && "item" in added && added.item.type === "apply_patch_call");
    assert.deepEqual(added.item.operation, { type: "update_file", path: "a.txt", diff: "" });
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    const [made] = last.response.output;
    assert.ok(made?.type === "apply_patch_call");
    const output = { type: "apply_patch_call_output", call_id: made.call_id, status: "completed" };
    const next = { input: [output], tools, previous_response_id: last.response.id };
    assert.equal((await server.create(next)).output_text, "Done.");
    const messages = server.upstream.requests[1]?.body["messages"] as unknown as { role: string }[];
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user", "assistant", "tool"],
    );
  });

  it("show the client's commands one after the other", async (t) => {
    const server = await startServer(t, script(call("shell", { commands: ["ls", "pwd"] })));
    const events = await server.stream({ input: "Look", tools: [{ type: "shell" }] });
    const commands = events.flatMap((event) =>
      String(event.type) === "response.shell_call_command.done" && "command" in event
        ? [[event["command_index" as never], event.command, event["output_index" as never]]]
        : [],
    );
    assert.deepEqual(commands, [
      [0, "ls", 0],
      [1, "pwd", 0],
    ]);
  });

  it("come as items too, and a call of them names its namespace", async (t) => {
    const server = await startServer(t, script(call("files__read", { path: "a" })));
    const inner = { type: "function", name: "read", parameters: { type: "object" } };
    const space = { type: "namespace", name: "files", description: "Files", tools: [inner] };
    const item = { type: "additional_tools", role: "developer", tools: [space] };
    const user = { type: "message", role: "user", content: "Read" };
    const { output } = await server.create({ input: [item, user] });
    assert.ok(output[0]?.type === "function_call");
    assert.deepEqual([output[0].name, output[0].namespace], ["read", "files"]);
  });

  it("force a function of a namespace", async (t) => {
    const server = await startServer(t, script(call("files__read", {})));
    const inner = { type: "function", name: "read", parameters: { type: "object" } };
    const tools = [{ type: "namespace", name: "files", description: "Files", tools: [inner] }];
    const tool_choice = { type: "function", name: "read", namespace: "files" };
    await server.create({ input: "Read", tools, tool_choice });
    const asked = server.upstream.requests[0]?.body["tool_choice"];
    assert.deepEqual(asked, { type: "function", function: { name: "files__read" } });
  });

  it("run in the server where it is set so", async (t) => {
    const patch = call("apply_patch", { type: "create_file", path: "new.txt", diff: "+x\n" });
    const server = await startServer(t, script(patch, reply.text("Done.")), {
      settings: { machine: { patches: "server" } },
    });
    const made = await server.create({ input: "Make it", tools: [{ type: "apply_patch" }] });
    assert.deepEqual(
      made.output.map(({ type }) => type),
      ["apply_patch_call", "apply_patch_call_output", "message"],
    );
  });

  it("are refused for a container of another tenant", async (t) => {
    const interpreter = { wheels: undefined, index: undefined };
    const server = await startServer(t, script(), { settings: { machine: { interpreter } } });
    const tools = [{ type: "code_interpreter", container: "cntr_x" }];
    const { status, body } = await server.ask("POST", "/v1/responses", { input: "Hi", tools });
    assert.equal(status, 400);
    assert.match(JSON.stringify(body), /There is no container `cntr_x`/);
  });
});
