vim.bo.commentstring = "// %s"
vim.bo.shiftwidth = 2
vim.bo.expandtab = true
vim.bo.iskeyword = "@,48-57,_,.,-"
if pcall(vim.treesitter.start) then -- without the parser the server's semantic tokens colour the file
  vim.wo.foldmethod = "expr"
  vim.wo.foldexpr = "v:lua.vim.treesitter.foldexpr()"
  vim.wo.foldlevel = 99
end
