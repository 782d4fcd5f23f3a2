-- The server is the gram command of the project's environment, else the one on the PATH.
local function command(root)
  for _, environment in ipairs({ ".venv", "venv", "env" }) do
    local found = vim.fs.joinpath(root, environment, "bin", "gram")
    if vim.fn.executable(found) == 1 then
      return found
    end
  end
  return vim.fn.exepath("gram")
end

return {
  cmd = function(dispatchers, config)
    return vim.lsp.rpc.start({ command(config.root_dir), "lsp" }, dispatchers, { cwd = config.root_dir })
  end,
  filetypes = { "gram" },
  root_dir = function(buffer, use)
    local root = vim.fs.root(buffer, { "gram.toml", "pyproject.toml", ".git" }) or vim.fn.getcwd()
    if command(root) ~= "" then
      use(root)
    else
      vim.notify_once("gram: no gram command in .venv or on the PATH: no language server", vim.log.levels.WARN)
    end
  end,
}
