vim.filetype.add({ extension = { gram = "gram" } })
