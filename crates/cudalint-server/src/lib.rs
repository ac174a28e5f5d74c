//! The language server: what `cudalint check` says, while a file is written. The only crate that knows JSON-RPC.
//!
//! One thread talks to the editor ([`session`]); another one lints ([`worker`]). The first takes a snapshot of all open
//! documents whenever the other has nothing to do and something has changed, so that the newest text is the next that is
//! linted, and no answer ever speaks of an older one.

mod actions;
mod capabilities;
mod client;
mod diagnostics;
mod documents;
mod facts;
mod hints;
mod notebooks;
mod program;
mod project;
mod requests;
mod session;
mod settings_files;
mod uri;
mod verify;
mod verifying;
mod waiting;
mod worker;

pub use program::Program;

use lsp_server::Connection;
use session::Session;

/// Serves an editor over standard input and output until it says goodbye.
///
/// # Errors
/// When the editor breaks the protocol, or goes away without a word.
pub fn serve(program: Program) -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let ended = serve_on(connection, program);
    threads.join().map_err(|error| format!("the editor cannot be reached: {error}"))?;
    ended
}

/// Serves an editor over a connection, as tests do.
///
/// # Errors
/// As [`serve`].
pub fn serve_on(connection: Connection, program: Program) -> Result<(), String> {
    let broken = |error: lsp_server::ProtocolError| error.to_string();
    let (id, params) = connection.initialize_start().map_err(broken)?;
    let client = client::Client::new(&params);
    let answer = capabilities::initialize_result(&client);
    connection.initialize_finish(id, answer).map_err(broken)?;
    Session::new(connection, program, client)?.run()
}
