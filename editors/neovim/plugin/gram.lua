-- Starts the server for gram files, and opens a terminal for its code lenses.
if vim.lsp.enable then
  vim.lsp.enable("gram")
end

for _, word in ipairs({ "run", "chat", "tools" }) do
  vim.lsp.commands["gram." .. word] = function(command)
    local file, agent = unpack(command.arguments or {})
    local words = { "gram", word, file }
    if agent then
      vim.list_extend(words, { "--agent", agent })
    end
    if word == "run" then
      local message = vim.fn.input("What to say to " .. (agent or "the agent") .. ": ")
      if message == "" then
        return
      end
      vim.list_extend(words, { "--", message })
    end
    vim.cmd("botright new")
    vim.fn.jobstart(words, { term = true })
    vim.cmd("startinsert")
  end
end
