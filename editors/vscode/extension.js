// The extension: starts `gram lsp`, and offers run, chat, tools and the drawing of a file.
"use strict";
const {execFile} = require("node:child_process");
const vscode = require("vscode");
const {LanguageClient} = require("vscode-languageclient/node");
const {findCommand} = require("./server");

let client;
let told = false;

function command() {
  const folders = (vscode.workspace.workspaceFolders || []).map((each) => each.uri.fsPath);
  return findCommand(vscode.workspace.getConfiguration("gram").get("command", ""), folders);
}

async function start() {
  if (!vscode.workspace.isTrusted) return;
  const run = {command: command(), args: ["lsp"]};
  const options = {documentSelector: [{language: "gram"}]};
  client = new LanguageClient("gram", "gram", {run, debug: run}, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    if (told) return;
    told = true;
    vscode.window.showWarningMessage(
      `gram: the language server did not start (${run.command} lsp). ` +
        "It comes with the extra lsp of gram-agents; or set gram.command. Highlighting works without it.",
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) await running.stop();
}

// The server's code lenses give the file and the agent; the palette gives neither. A task stays open when
// its command has ended, so that what it said can be read; tasks need an open folder.
function inTerminal(word) {
  return async (file, agent) => {
    const editor = vscode.window.activeTextEditor;
    const name = file || (editor && editor.document.uri.fsPath);
    if (!name) return;
    if (editor && editor.document.uri.fsPath === name) await editor.document.save();
    const title = agent ? `${word} ${agent}` : word;
    const words = [word, name, ...(agent ? ["--agent", agent] : [])];
    if (word === "run") {
      const message = await vscode.window.showInputBox({prompt: `What to say to ${agent || "the agent"}`});
      if (!message) return;
      words.push("--", message);
    }
    if (!vscode.workspace.workspaceFolders) {
      vscode.window.createTerminal({name: title, shellPath: command(), shellArgs: words}).show();
      return;
    }
    const run = new vscode.ProcessExecution(command(), words);
    const task = new vscode.Task({type: "process"}, vscode.TaskScope.Workspace, title, "gram", run, []);
    task.presentationOptions = {focus: true, panel: vscode.TaskPanelKind.Dedicated};
    await vscode.tasks.executeTask(task);
  };
}

function drawing(file) {
  return new Promise((resolve) => {
    execFile(command(), ["graph", "--as", "svg", file], {maxBuffer: 1 << 26}, (error, svg, message) => {
      const escape = (text) => text.replace(/[&<>]/g, (mark) => `&#${mark.charCodeAt(0)};`);
      resolve(error ? `<pre>${escape(message || String(error))}</pre>` : svg);
    });
  });
}

async function showDrawing(context) {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== "gram") return;
  const {document} = editor;
  const title = `Drawing of ${document.fileName.split(/[\\/]/).pop()}`;
  const panel = vscode.window.createWebviewPanel("gram.graph", title, vscode.ViewColumn.Beside, {});
  const show = async () => {
    const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
    panel.webview.html =
      `<meta http-equiv="Content-Security-Policy" content="${policy}">` +
      `<body style="background:white">${await drawing(document.uri.fsPath)}</body>`;
  };
  const saved = vscode.workspace.onDidSaveTextDocument((each) => each === document && show());
  panel.onDidDispose(() => saved.dispose());
  context.subscriptions.push(panel);
  await document.save();
  await show();
}

function activate(context) {
  const commands = {
    "gram.graph": () => showDrawing(context),
    "gram.run": inTerminal("run"),
    "gram.chat": inTerminal("chat"),
    "gram.tools": inTerminal("tools"),
    "gram.restart": async () => {
      told = false;
      await stop();
      await start();
    },
  };
  for (const [name, action] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, action));
  }
  context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(start));
  return start();
}

module.exports = {activate, deactivate: stop};
