//! The server in Neovim: it opens a file, shows what is wrong in it, applies a fix and sees it gone.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
mod tools;

use common::{Sandbox, finished};
use std::fs;

const TEXT: &str = "#include <cuda_runtime.h>\nint a;  // cudalint: ignore[empty-grid] nothing is launched\n";

/// What the editor does; the functions are those that Neovim has had since 0.7.
const SCRIPT: &str = r#"
local limit = 240000
local function fail(said)
  io.stderr:write("failed: " .. said .. "\n")
  vim.cmd("cquit")
end
local id = vim.lsp.start_client({ name = "cudalint", cmd = { vim.env.CUDALINT, "server" }, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(0, id)
local function codes()
  return table.concat(vim.tbl_map(function(it) return it.code end, vim.diagnostic.get(0)), " ")
end
if not vim.wait(limit, function() return codes() == "unused-ignore" end, 10) then
  fail("the diagnostics are `" .. codes() .. "`")
end
vim.api.nvim_win_set_cursor(0, { 2, 10 })
local params = vim.lsp.util.make_range_params()
params.context = { diagnostics = {} }
local answer = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, limit)
local client = vim.lsp.get_client_by_id(id)
for _, action in ipairs((answer[id] or {}).result or {}) do
  if action.isPreferred then
    vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
  end
end
if not vim.wait(limit, function() return codes() == "" end, 10) then
  fail("the diagnostics are still `" .. codes() .. "`")
end
vim.cmd("write")
vim.cmd("quitall!")
"#;

#[test]
fn neovim_shows_findings_and_applies_a_fix() {
    let Some(neovim) = tools::on_path("nvim") else { return };
    let sandbox = Sandbox::new(&[("a.cu", TEXT), ("script.lua", SCRIPT)]);
    let home = sandbox.path().join("home");
    let mut command = std::process::Command::new(neovim);
    command
        .args(["--headless", "--clean", "a.cu", "-c", "luafile script.lua"])
        .current_dir(sandbox.path())
        .env("CUDALINT", env!("CARGO_BIN_EXE_cudalint"))
        .env("HOME", &home)
        .env("XDG_STATE_HOME", &home)
        .env("XDG_CACHE_HOME", &home);
    let ran = finished(&mut command);
    let log = || fs::read_to_string(home.join("nvim/lsp.log")).unwrap_or_default();
    assert!(ran.code == 0 && !ran.stderr.contains("failed"), "{ran:?}\n{}", log());
    assert_eq!(fs::read_to_string(sandbox.path().join("a.cu")).unwrap(), "#include <cuda_runtime.h>\nint a;\n");
}
