// Starts `cudalint server` and shows what it says.

import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

/** The scheme of documents that hold a rule's page. */
const PAGES = "cudalint-rule";

/** What the server answers to `cudalint.explain`. */
interface Page {
  rule: string;
  markdown: string;
}

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("cudalint");
  const pages = new Map<string, string>();
  context.subscriptions.push(
    output,
    vscode.workspace.registerTextDocumentContentProvider(PAGES, {
      provideTextDocumentContent: (uri) => pages.get(uri.path) ?? "",
    }),
    vscode.commands.registerCommand("cudalint.showOutput", () => output.show()),
    vscode.commands.registerCommand("cudalint.restart", async () => {
      await client?.dispose();
      client = undefined;
      await start(output, pages);
    }),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("cudalint.path")) {
        await vscode.commands.executeCommand("cudalint.restart");
      }
    }),
  );
  await start(output, pages);
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
}

async function start(output: vscode.OutputChannel, pages: Map<string, string>): Promise<void> {
  const command = vscode.workspace.getConfiguration("cudalint").get("path", "cudalint");
  const server: ServerOptions = { command, args: ["server"] };
  const files = ["cuda-cpp", "cuda", "cpp", "c", "python", "markdown"].map((language) => ({ scheme: "file", language }));
  const options: LanguageClientOptions = {
    documentSelector: [
      ...files,
      { scheme: "file", pattern: "**/*.{cu,cuh}" },
      { scheme: "file", pattern: "**/{cudalint,pyproject}.toml" },
    ],
    outputChannel: output,
    synchronize: { configurationSection: "cudalint" },
    middleware: {
      // The server gives the page; showing it is the editor's part.
      executeCommand: async (name, args, next) => {
        const result: unknown = await next(name, args);
        if (name === "cudalint.explain") {
          await show(result as Page, pages);
        }
        return result;
      },
    },
  };
  client = new LanguageClient("cudalint", "cudalint", server, options);
  try {
    await client.start();
  } catch (error) {
    const open = "Open settings";
    const text = `cudalint cannot be started as \`${command}\`: ${error instanceof Error ? error.message : String(error)}`;
    if ((await vscode.window.showErrorMessage(text, open)) === open) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "cudalint.path");
    }
  }
}

async function show(page: Page, pages: Map<string, string>): Promise<void> {
  const uri = vscode.Uri.from({ scheme: PAGES, path: `/${page.rule}.md` });
  pages.set(uri.path, page.markdown);
  await vscode.commands.executeCommand("markdown.showPreviewToSide", uri);
}
