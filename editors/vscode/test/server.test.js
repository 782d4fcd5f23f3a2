"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");
const {findCommand} = require("../server");

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gram-"));
const found = path.join(folder, ".venv", "bin", "gram");
fs.mkdirSync(path.dirname(found), {recursive: true});
fs.writeFileSync(found, "");

test("the setting comes first", () => assert.equal(findCommand("/x/gram", [folder], false), "/x/gram"));
test("then the project's environment", () => assert.equal(findCommand("", ["/none", folder], false), found));
test("then the one on the PATH", () => assert.equal(findCommand("", ["/none"], false), "gram"));
