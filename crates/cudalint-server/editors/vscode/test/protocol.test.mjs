// The server as the extension's client meets it, and what it answers held to the types of vscode-languageserver-types.
//
//   npm ci && CUDALINT=path/to/cudalint npm test

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import rpc from "vscode-languageserver-protocol/node.js";
import * as types from "vscode-languageserver-types";

const TEXT = `#include <cuda_runtime.h>
__global__ void increment(float *values) { values[threadIdx.x] = 1; }
cudaError_t run(float *values) {
    increment<<<20 / 32, 32>>>(values);
    increment<<<1, 64>>>(values);
    return cudaGetLastError();
}
`;

test("a session with the client's own library", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "cudalint-")));
  writeFileSync(join(folder, "a.cu"), TEXT);
  const uri = pathToFileURL(join(folder, "a.cu")).href;
  const server = spawn(process.env.CUDALINT ?? "cudalint", ["server"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createProtocolConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  connection.onRequest(rpc.ConfigurationRequest.type, ({ items }) => items.map(() => null));
  connection.onRequest(rpc.RegistrationRequest.type, () => undefined);
  connection.listen();
  const { capabilities } = await connection.sendRequest(rpc.InitializeRequest.type, {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    workspaceFolders: [{ uri: pathToFileURL(folder).href, name: "folder" }],
    initializationOptions: { inlayHints: { indexRange: true } },
    capabilities: {
      textDocument: {
        diagnostic: {},
        publishDiagnostics: { relatedInformation: true, codeDescriptionSupport: true, dataSupport: true },
        codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } } },
        hover: { contentFormat: ["markdown"] },
      },
      workspace: {
        configuration: true,
        didChangeWatchedFiles: { dynamicRegistration: true },
        workspaceEdit: { documentChanges: true },
      },
    },
  });
  assert.equal(capabilities.positionEncoding, "utf-16");
  await connection.sendNotification(rpc.InitializedNotification.type, {});
  await connection.sendNotification(rpc.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "cuda-cpp", version: 1, text: TEXT },
  });
  const textDocument = { uri };
  const report = await connection.sendRequest(rpc.DocumentDiagnosticRequest.type, { textDocument });
  assert.equal(report.kind, "full");
  assert.deepEqual(report.items.map((item) => item.code), ["empty-grid"]);
  assert.ok(report.items.every((item) => types.Diagnostic.is(item)));

  const { range } = report.items[0];
  const context = { diagnostics: report.items };
  const actions = await connection.sendRequest(rpc.CodeActionRequest.type, { textDocument, range, context });
  assert.ok(actions.length >= 2 && actions.every((action) => types.CodeAction.is(action)), JSON.stringify(actions));
  assert.ok(actions.every((action) => !action.edit || types.WorkspaceEdit.is(action.edit)));

  const position = types.Position.create(1, TEXT.split("\n")[1].indexOf("increment"));
  const hover = await connection.sendRequest(rpc.HoverRequest.type, { textDocument, position });
  assert.ok(types.Hover.is(hover), JSON.stringify(hover));
  const lenses = await connection.sendRequest(rpc.CodeLensRequest.type, { textDocument });
  assert.ok(lenses.length === 2 && lenses.every((lens) => types.CodeLens.is(lens)), JSON.stringify(lenses));

  const everything = types.Range.create(0, 0, 99, 0);
  const hints = await connection.sendRequest(rpc.InlayHintRequest.type, { textDocument, range: everything });
  assert.ok(hints.length === 1 && types.InlayHint.is(hints[0]), JSON.stringify(hints));

  const page = await connection.sendRequest(rpc.ExecuteCommandRequest.type, {
    command: "cudalint.explain",
    arguments: [{ rule: "empty-grid" }],
  });
  assert.ok(page.markdown.startsWith("# empty-grid"));
  await connection.sendRequest(rpc.ShutdownRequest.type);
  await connection.sendNotification(rpc.ExitNotification.type);
  assert.equal(await new Promise((resolve) => server.once("exit", resolve)), 0);
  connection.dispose();
});
