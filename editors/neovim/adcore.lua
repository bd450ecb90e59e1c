-- Neovim 0.11 and later: put this file into ~/.config/nvim/lsp/ and write `vim.lsp.enable("adcore")` in init.lua.
return {
  cmd = { "adcore", "lsp" },
  filetypes = { "python", "toml" },
  root_markers = { "pyproject.toml", ".git" },
}
