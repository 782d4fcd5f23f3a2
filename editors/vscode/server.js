// Where the gram command of a project is: the setting, the project's environment, else the PATH.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const ENVIRONMENTS = [".venv", "venv", "env"];

/**
 * The gram command to use.
 * @param {string} setting what the user has set, or ""
 * @param {string[]} folders the folders of the workspace
 * @param {boolean} isWindows whether programs end with .exe, in Scripts
 * @returns {string} a path, or "gram" for the one on the PATH
 */
function findCommand(setting, folders, isWindows = process.platform === "win32") {
  if (setting) return setting;
  const program = isWindows ? path.join("Scripts", "gram.exe") : path.join("bin", "gram");
  for (const folder of folders) {
    for (const environment of ENVIRONMENTS) {
      const found = path.join(folder, environment, program);
      if (fs.existsSync(found)) return found;
    }
  }
  return "gram";
}

module.exports = {findCommand};
