//! The studio: a page in the browser to look at a character, pose it, and edit what is under its skin.
//!
//! ```text
//! page (TypeScript, three.js) --requests, JSON--> Mailbox (newest view) --> Engine (a thread per page)
//! Engine --frames, binary--> page, which says when one is drawn
//! Desk (shared by all pages) = the Studio of the open character, or none; what can be opened
//! Studio = Character + Document (anatomy, undo) + Bodies (bound in the background) + Judge + Bake
//! ```
//! The engine does the work with the library, on all cores; the page draws. All pages of an engine share one document,
//! so two tabs cannot overwrite each other; what a page looks at (clip, moment, pose, methods) is its own, and it
//! tells the engine again when it reconnects.
//!
//! The page is made by vite when this crate is built, and is part of the program. On a machine without Node the
//! crate builds without it, and [`open`] says what to install.

mod bake;
mod bodies;
mod browser;
mod character;
mod clock;
mod desk;
mod document;
mod drawn;
mod dropped;
mod engine;
mod film;
mod flesh;
mod folder;
mod habits;
mod inside;
mod judge;
mod mailbox;
mod message;
mod page;
mod poses;
mod recent;
mod recovery;
mod server;
mod studio;
#[cfg(test)]
mod tests;
mod thumbnail;
mod wire;

pub use document::DocumentError;
pub use server::Address;

use desk::Desk;
use ecorche::cache::Cache;
use ecorche::recipe::Ingredients;
use std::path::PathBuf;
use std::sync::Arc;
use studio::Studio;
use tokio::sync::Notify;

/// Fewest characters of a token that is given.
const SHORTEST_TOKEN: usize = 16;

/// How a studio is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folders that pages may write to without asking, besides those of the character and the anatomy.
    pub folders: Vec<PathBuf>,
    /// Port on the loopback address; 0 takes a free one.
    pub port: u16,
    /// What its address begins with; random without. At least 16 letters and digits.
    pub token: Option<String>,
    /// Do not open the browser.
    pub no_browser: bool,
    /// Where results that take long are kept.
    pub cache: Option<Cache>,
}

/// Ends a studio from another thread, such as the one that handles an interrupt.
#[derive(Clone, Debug, Default)]
pub struct Closer(Arc<Notify>);

impl Closer {
    /// Ends it: a bake is cancelled and leaves nothing behind; edits that are not saved stay in their recovery file.
    pub fn close(&self) {
        self.0.notify_one();
    }
}

/// Why a studio could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Built on a machine without Node.
    #[error(
        "this ecorche was built without the studio's page ({0}); install Node 20 or newer with npm and build it again: \
         cargo install --path crates/ecorche-cli"
    )]
    NoPage(&'static str),
    /// The anatomy cannot be used.
    #[error(transparent)]
    Anatomy(#[from] DocumentError),
    /// The given token is too easy to guess.
    #[error("a token has at least {SHORTEST_TOKEN} letters and digits")]
    Token,
    /// The port is taken, or the system has none.
    #[error("port {port} of this machine: {source}; choose another with --port, or none")]
    Listen {
        /// Which.
        port: u16,
        /// Why.
        source: std::io::Error,
    },
}

/// Serves pages until it is closed, with a character or with a start page on which one is chosen; `ready` gets the address
/// and what closes it. Without an anatomy in the recipe a new one starts with the sample's own muscles, or with the preset's
/// for a humanoid.
pub fn open(
    ingredients: Option<Ingredients>,
    options: Options,
    ready: impl FnOnce(&Address, Closer),
) -> Result<(), OpenError> {
    if let Some(reason) = page::missing() {
        return Err(OpenError::NoPage(reason));
    }
    let wanted = options.port;
    let failed = |source| OpenError::Listen { port: wanted, source };
    let token = match &options.token {
        Some(token) if token.len() < SHORTEST_TOKEN || !token.chars().all(|c| c.is_ascii_alphanumeric()) => {
            return Err(OpenError::Token);
        }
        Some(token) => token.clone(),
        None => server::token().map_err(failed)?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("server")
        .enable_all()
        .build();
    let runtime = runtime.map_err(failed)?;
    let listener = runtime.block_on(server::listen(options.port)).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let desk = Desk::new(options.folders, options.cache, Arc::default());
    if let Some(ingredients) = ingredients {
        desk.place(ingredients)?;
    }
    let address = Address { port, token };
    let closer = Closer::default();
    ready(&address, closer.clone());
    // Where there is no browser to be found, `ready` has told the address. The file is removed when the studio ends.
    let _way = if options.no_browser { None } else { browser::open(&address.url()) };
    runtime.block_on(async {
        tokio::select! {
            () = server::serve(listener, address, desk.clone()) => {}
            () = closer.0.notified() => {}
        }
    });
    desk.close();
    // Engines of pages end after the frame they are at; nobody needs to wait for them.
    runtime.shutdown_background();
    Ok(())
}

/// Binds bodies and judges clips in threads of their own until the studio is closed.
fn start_binding(studio: &Arc<Studio>) {
    let [worker, judge, teller] = [studio.clone(), studio.clone(), studio.clone()];
    std::thread::spawn(move || worker.bodies.work(|| worker.notify()));
    std::thread::spawn(move || judge.judge.work(&judge.bodies, || judge.tick()));
    std::thread::spawn(move || teller.tick_until_closed());
}
