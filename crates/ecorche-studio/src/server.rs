//! The web server: the page's files and the engine's socket, for this machine and this user alone.
//!
//! It listens on the loopback address. Every address it answers begins with a random token, every request must name this
//! server as its host (a foreign site whose name was pointed here does not) and, where the browser says where it
//! comes from, come from here.

use crate::desk::Desk;
use crate::dropped::LARGEST_FILE;
use crate::engine::Engine;
use crate::film;
use crate::folder;
use crate::mailbox::Mailbox;
use crate::message::{self, LARGEST_TEXT, Request as Asked, VERSION};
use crate::page;
use crate::studio::Listener;
use crate::thumbnail;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::{SinkExt, StreamExt};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Most pages at a time; each has a thread.
const MOST_PAGES: usize = 16;

/// How long a connection may take to say what it wants, and may then be idle.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait when the system has no connections left to give.
const PAUSE: Duration = Duration::from_millis(50);

/// Largest frame of the socket; one above [`LARGEST_TEXT`] is read, counted and refused, one above this ends the
/// connection.
const LARGEST_FRAME: usize = 4 * LARGEST_TEXT;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Its port on the loopback address.
    pub port: u16,
    /// What every address begins with.
    pub token: String,
}

impl Address {
    /// What to open in a browser.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    fn names(&self, host: &str) -> bool {
        ["127.0.0.1", "localhost"].iter().any(|name| host == format!("{name}:{}", self.port))
    }
}

struct Server {
    desk: Arc<Desk>,
    address: Address,
    pages: Arc<AtomicUsize>,
}

/// One of the pages that may be open; given back when dropped, whether the page ever came or not.
struct PageSlot(Arc<AtomicUsize>);

impl PageSlot {
    /// `None` when all are taken.
    fn take(pages: &Arc<AtomicUsize>) -> Option<Self> {
        let more = |open| (open < MOST_PAGES).then_some(open + 1);
        pages.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_ok().then(|| Self(pages.clone()))
    }
}

impl Drop for PageSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// 128 random bits as text.
pub fn token() -> std::io::Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Binds a port of the loopback address, a free one for 0.
pub async fn listen(port: u16) -> std::io::Result<tokio::net::TcpListener> {
    tokio::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await
}

/// Serves until the future is dropped.
pub async fn serve(listener: tokio::net::TcpListener, address: Address, desk: Arc<Desk>) {
    let server = Arc::new(Server { desk, address, pages: Arc::default() });
    let routes = Router::new()
        .route("/{token}/", get(front))
        .route("/{token}/{file}", get(file))
        .route("/{token}/picture/{number}", get(picture))
        .route("/{token}/sample/{name}", get(sample))
        .route("/{token}/drop/{batch}/{name}", post(take_file))
        .route("/{token}/crowd/{clip}", get(crowd))
        .route(&format!("/{{token}}/engine/v{VERSION}"), get(engine))
        .layer(middleware::from_fn_with_state(server.clone(), guard))
        .with_state(server);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // A frame is on its way at once, not when the next one fills the packet. Where that cannot be set, frames are
        // late, not lost.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(routes.clone());
        tokio::spawn(async move {
            let mut connection = http1::Builder::new();
            connection.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
            // A connection that breaks is the visitor's affair.
            let _ = connection.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
        });
    }
}

/// Lets in what comes from here with the right token.
async fn guard(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    if !allowed(request.headers(), request.uri().path(), &server.address) {
        server.desk.refused.visitors.fetch_add(1, Ordering::Relaxed);
        return StatusCode::FORBIDDEN.into_response();
    }
    let mut response = next.run(request).await;
    let policy = format!(
        "default-src 'self'; img-src 'self' data: blob:; connect-src 'self' ws://127.0.0.1:{0} ws://localhost:{0}; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        server.address.port
    );
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // Nobody else's window shares the page's process; its clock may then be a fine one.
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
        (header::CONTENT_SECURITY_POLICY, &policy),
    ] {
        if let Ok(value) = value.parse() {
            headers.insert(name, value);
        }
    }
    response
}

/// Whether a request comes from here and knows the token. A host or an origin that is given twice or is no ASCII is
/// a foreign one.
fn allowed(headers: &HeaderMap, path: &str, address: &Address) -> bool {
    let from_here = |origin: &str| origin.strip_prefix("http://").is_some_and(|host| address.names(host));
    let host = only(headers, header::HOST).is_some_and(|host| address.names(host));
    let origin =
        !headers.contains_key(header::ORIGIN) || only(headers, header::ORIGIN).is_some_and(from_here);
    let given = path.split('/').nth(1).unwrap_or_default();
    host && origin && equal(given.as_bytes(), address.token.as_bytes())
}

/// A header that is there once, in ASCII.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none());
    value.and_then(|value| value.to_str().ok())
}

/// Whether the two are equal, in a time that does not tell how much of them is.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}

async fn front() -> Response {
    bundled("")
}

async fn file(Path((_, name)): Path<(String, String)>) -> Response {
    bundled(&name)
}

/// A picture of the opened character.
async fn picture(State(server): State<Arc<Server>>, Path((_, number)): Path<(String, usize)>) -> Response {
    let studio = server.desk.here().studio;
    match studio.as_ref().and_then(|studio| studio.textures.get(number)) {
        Some(texture) => ([(header::CONTENT_TYPE, texture.mime)], texture.bytes.clone()).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A small picture of a sample.
async fn sample(State(server): State<Arc<Server>>, Path((_, name)): Path<(String, String)>) -> Response {
    let drawn = tokio::task::spawn_blocking(move || thumbnail::of_sample(&name, server.desk.cache())).await;
    match drawn.ok().flatten() {
        Some(bytes) => ([(header::CONTENT_TYPE, "image/png")], bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Takes a file that was dropped on a page: a temporary copy. A page says where it comes from when it sends something.
async fn take_file(
    State(server): State<Arc<Server>>,
    Path((_, batch, name)): Path<(String, String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    if !headers.contains_key(header::ORIGIN) {
        server.desk.refused.visitors.fetch_add(1, Ordering::Relaxed);
        return StatusCode::FORBIDDEN.into_response();
    }
    match copy(&server.desk, &batch, &name, body).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(problem) => (StatusCode::BAD_REQUEST, problem).into_response(),
    }
}

/// Writes what comes to its place among the copies.
async fn copy(desk: &Desk, batch: &str, name: &str, body: Body) -> Result<(), String> {
    let path = desk.dropped.place(batch, name)?;
    let words = |error: std::io::Error| format!("{name}: no temporary copy can be made: {error}");
    let mut file = std::fs::File::create(path).map_err(words)?;
    let (mut parts, mut size) = (body.into_data_stream(), 0);
    while let Some(part) = parts.next().await {
        let part = part.map_err(|error| format!("{name}: {error}"))?;
        size += part.len() as u64;
        if size > LARGEST_FILE {
            return Err(format!("{name}: larger than a gigabyte; open it by its path instead"));
        }
        std::io::Write::write_all(&mut file, &part).map_err(words)?;
    }
    Ok(())
}

/// A clip for a crowd, by its number; the page plays it.
async fn crowd(State(server): State<Arc<Server>>, Path((_, clip)): Path<(String, usize)>) -> Response {
    let filmed = move || match server.desk.here().studio {
        Some(studio) => film::film(&studio, clip),
        None => Err("no character is open".to_owned()),
    };
    // Binding and sampling take a second.
    match tokio::task::spawn_blocking(filmed).await {
        Ok(Ok(bytes)) => ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response(),
        Ok(Err(problem)) => (StatusCode::UNPROCESSABLE_ENTITY, problem).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn bundled(name: &str) -> Response {
    match page::FILES.iter().find(|file| file.name == name) {
        Some(file) => ([(header::CONTENT_TYPE, file.kind)], Body::from(file.bytes)).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn engine(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    // A browser always says where a socket is opened from.
    if !headers.contains_key(header::ORIGIN) {
        server.desk.refused.visitors.fetch_add(1, Ordering::Relaxed);
        return StatusCode::FORBIDDEN.into_response();
    }
    let Some(slot) = PageSlot::take(&server.pages) else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let upgrade = upgrade.max_message_size(LARGEST_FRAME).max_frame_size(LARGEST_FRAME);
    upgrade.on_upgrade(async move |socket| {
        serve_page(server.desk.clone(), socket).await;
        drop(slot);
    })
}

/// Serves one character after the other, until the page is gone.
fn serve_characters(desk: &Desk, mailbox: &Arc<Mailbox>, mut send: impl FnMut(Bytes) -> bool) {
    loop {
        let here = desk.here();
        mailbox.begin(here.number);
        let there = match &here.studio {
            Some(studio) => {
                let listener: Arc<dyn Listener> = mailbox.clone();
                studio.subscribe(&listener);
                Engine::new(studio, mailbox.clone(), &mut send).run(here.number)
            }
            None => mailbox.wait_for_character(),
        };
        if !there {
            return;
        }
    }
}

/// One page: its engine in a thread, what the engine says to the socket, what the page says to the engine or the desk.
async fn serve_page(desk: Arc<Desk>, socket: WebSocket) {
    let mailbox = Arc::new(Mailbox::default());
    desk.register(&mailbox);
    // At most two frames and what belongs to them are under way; a page that does not read stops its engine here.
    let (sender, mut receiver) = mpsc::channel::<(Instant, Bytes)>(8);
    let (of_engine, its_mail, answers) = (desk.clone(), mailbox.clone(), sender.clone());
    let thread = std::thread::Builder::new().name("engine".to_owned()).spawn(move || {
        serve_characters(&of_engine, &its_mail, |bytes| {
            sender.blocking_send((Instant::now(), bytes)).is_ok()
        });
    });
    let (mut to_page, mut from_page) = socket.split();
    let mut changes = desk.changes();
    changes.mark_changed();
    let sending = async {
        loop {
            let (ready, bytes) = tokio::select! {
                Ok(()) = changes.changed() => (Instant::now(), desk.describe()),
                Some(message) = receiver.recv() => message,
                else => break,
            };
            if to_page.send(Message::Binary(bytes)).await.is_err() {
                break;
            }
            mailbox.handed(ready.elapsed());
        }
    };
    let receiving = async {
        while let Some(Ok(message)) = from_page.next().await {
            let request = match message {
                Message::Text(text) => message::decode(text.as_str()),
                Message::Binary(_) => Err("the engine reads texts".to_owned()),
                Message::Ping(_) | Message::Pong(_) => continue,
                Message::Close(_) => break,
            };
            let accepted = match request {
                Ok(Asked::Open(order)) => {
                    desk.open(order);
                    true
                }
                Ok(Asked::GiveUpOpening) => {
                    desk.give_up();
                    true
                }
                Ok(Asked::Habits { habits }) => {
                    desk.keep_habits(habits);
                    true
                }
                Ok(Asked::Folder { path, endings }) => {
                    let listed =
                        tokio::task::spawn_blocking(move || folder::list(path.as_deref(), &endings)).await;
                    match listed {
                        Ok(listed) => answers.send((Instant::now(), listed)).await.is_ok(),
                        Err(_) => false,
                    }
                }
                Ok(request) => mailbox.post(request),
                Err(_) => false,
            };
            if !accepted {
                desk.refused.messages.fetch_add(1, Ordering::Relaxed);
                mailbox.notify();
            }
        }
    };
    // Whichever ends first ends the page.
    tokio::select! { () = sending => {}, () = receiving => {} }
    mailbox.close();
    receiver.close();
    drop(receiver);
    if let Ok(thread) = thread {
        // The engine ends after the frame it is at.
        let _ = tokio::task::spawn_blocking(move || thread.join()).await;
    }
}
