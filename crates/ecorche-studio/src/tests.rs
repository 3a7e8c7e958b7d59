//! The server as a stranger and as a page meet it.

use crate::desk::Desk;
use crate::message::VERSION;
use crate::server::{self, Address};
use crate::studio::Studio;
use ecorche::recipe::{Ingredients, Recipe};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

mod opening;
mod typed;

type Socket = tokio_tungstenite::WebSocketStream<tokio::net::TcpStream>;

/// Serves the cylinder while `visit` runs.
fn with_server<F: Future>(visit: impl FnOnce(Address, Arc<Studio>) -> F) -> F::Output {
    with_server_of("cylinder", visit)
}

/// Serves a sample while `visit` runs.
fn with_server_of<F: Future>(sample: &str, visit: impl FnOnce(Address, Arc<Studio>) -> F) -> F::Output {
    let ingredients = Recipe::of(format!("sample:{sample}")).read().unwrap();
    // Edits are kept in a folder of the test's own, not in the one it runs in.
    let folder = tempfile::tempdir().unwrap();
    with_studio(open(ingredients, folder.path()), visit)
}

/// Opens what was read; pages may write to `folder`.
fn open(ingredients: Ingredients, folder: &Path) -> Arc<Studio> {
    Studio::open_from(ingredients, &[folder.to_owned()], None, Arc::default(), false).unwrap()
}

/// Serves a studio while `visit` runs.
fn with_studio<F: Future>(studio: Arc<Studio>, visit: impl FnOnce(Address, Arc<Studio>) -> F) -> F::Output {
    let desk = Desk::new(Vec::new(), None, studio.refused.clone());
    desk.put(studio.clone());
    with_desk(desk, async |address| visit(address, studio).await)
}

/// Serves what is on a desk while `visit` runs.
fn with_desk<T>(desk: Arc<Desk>, visit: impl AsyncFnOnce(Address) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let result = runtime.block_on(async {
        let listener = server::listen(0).await.unwrap();
        assert!(listener.local_addr().unwrap().ip().is_loopback());
        let address =
            Address { port: listener.local_addr().unwrap().port(), token: server::token().unwrap() };
        let serving = tokio::spawn(server::serve(listener, address.clone(), desk.clone()));
        let result = visit(address).await;
        serving.abort();
        result
    });
    desk.close();
    result
}

async fn connect(address: &Address) -> Socket {
    let url = format!("ws://127.0.0.1:{}/{}/engine/v{VERSION}", address.port, address.token);
    let mut request = url.into_client_request().unwrap();
    let origin = format!("http://127.0.0.1:{}", address.port);
    request.headers_mut().insert("Origin", origin.parse().unwrap());
    let stream = tokio::net::TcpStream::connect(("127.0.0.1", address.port)).await.unwrap();
    tokio_tungstenite::client_async(request, stream).await.unwrap().0
}

/// Kind, head and arrays (as bytes) of the next message.
async fn receive(socket: &mut Socket) -> (u16, Value, Vec<Vec<u8>>) {
    loop {
        let message = socket.next().await.unwrap().unwrap();
        let Message::Binary(bytes) = message else { continue };
        assert_eq!(&bytes[..4], b"ECRC");
        let short = |at: usize| u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap());
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(short(4), VERSION);
        let (head, count) = (word(8), word(12));
        let mut at = 16 + 8 * count;
        let value = serde_json::from_slice(&bytes[at..at + head]).unwrap();
        at += head.next_multiple_of(4);
        let mut arrays = Vec::new();
        for k in 0..count {
            let length = word(20 + 8 * k);
            arrays.push(bytes[at..at + length].to_vec());
            at += length.next_multiple_of(4);
        }
        assert_eq!(at, bytes.len());
        return (short(6), value, arrays);
    }
}

/// The next message of a kind that satisfies `wanted`; frames on the way are acknowledged.
async fn until(socket: &mut Socket, kind: u16, wanted: impl Fn(&Value) -> bool) -> (Value, Vec<Vec<u8>>) {
    loop {
        let (found, head, arrays) = receive(socket).await;
        if found == 3 {
            say(socket, json!({ "drawn": { "frame": head["frame"] } })).await;
        }
        if found == kind && wanted(&head) {
            return (head, arrays);
        }
    }
}

async fn say(socket: &mut Socket, request: Value) {
    socket.send(Message::text(request.to_string())).await.unwrap();
}

fn view(look: &str, at: f64) -> Value {
    json!({ "view": {
        "id": 1, "clip": "bend", "playing": false, "at": at, "speed": 1.0, "repeat": true, "pose": [],
        "looks": [look], "quantity": null, "trace": null,
        "inside": { "flesh": false, "samples": null, "surface": null, "slice": null },
    } })
}

fn shows(look: &'static str, at: f64) -> impl Fn(&Value) -> bool {
    move |head| head["looks"][0]["shown"] == look && head["looks"][0]["binding"] == false && head["at"] == at
}

async fn status(port: u16, request: &str) -> u16 {
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 64];
    let length = stream.read(&mut answer).await.unwrap();
    let text = String::from_utf8_lossy(&answer[..length]).into_owned();
    text.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn strangers_are_turned_away_and_counted() {
    with_server(async |address, studio| {
        let Address { port, token } = &address;
        let get =
            |path: &str, host: &str, more: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n");
        let here = format!("127.0.0.1:{port}");
        let front = format!("/{token}/");
        assert_eq!(status(*port, &get(&front, &here, "")).await, 200);
        assert_eq!(status(*port, &get(&format!("/{token}/passwd"), &here, "")).await, 404);
        assert_eq!(status(*port, &get(&format!("/{token}/..%2f..%2fetc%2fpasswd"), &here, "")).await, 404);
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let engine = format!("/{token}/engine/v{VERSION}");
        let foreign = format!("{upgrade}Origin: http://example.org\r\n");
        let strangers = [
            get("/", &here, ""),
            get("/0123456789abcdef0123456789abcdef/", &here, ""),
            get(&front, "example.org", ""),
            get(&front, &format!("{here}\u{e4}"), ""),
            get(&front, &here, "Origin: http://example.org\r\n"),
            get(&engine, &here, &foreign),
            get(&engine, &here, upgrade),
            get(&front, &here, "Origin: http://ex\u{e4}mple.org\r\n"),
            get(&front, &here, &format!("Origin: http://{here}\r\nOrigin: http://example.org\r\n")),
            get(&front, &here, "Host: example.org\r\n"),
        ];
        for (k, stranger) in strangers.iter().enumerate() {
            assert_eq!(status(*port, stranger).await, 403, "{stranger}");
            assert_eq!(studio.refused.visitors.load(std::sync::atomic::Ordering::Relaxed), k as u64 + 1);
        }
    });
}

#[test]
fn a_page_sees_the_frame_it_scrubs_to_and_undo_brings_the_same_bits_back() {
    with_server(async |address, _| {
        let character = ecorche::samples::build("cylinder").unwrap();
        let clip = character.clip("bend").unwrap();
        let fps = clip.fps.unwrap_or(30.0);
        // A deep bend, where the gap is seen.
        let middle = clip.frame_count(fps) / 2;
        let at = middle as f64;
        let mut socket = connect(&address).await;
        until(&mut socket, 1, |head| head["name"] == "cylinder").await;
        say(&mut socket, view("implicit", at)).await;
        let (_, before) = until(&mut socket, 3, shows("implicit", at)).await;

        let body = ecorche::deform::Body::bind(
            Arc::new(character.clone()),
            ecorche::deform::Stack::implicit(),
            None,
        )
        .unwrap();
        let mut pose = ecorche::character::Pose::rest(&character);
        clip.sample(clip.frame_time(middle, fps), &mut pose);
        let frame = body.deform(&pose, 0.0, &mut Default::default());
        let mut expected = Vec::new();
        crate::drawn::Drawn::new(&character).positions(&frame, &mut expected);
        assert_eq!(before[5], bytemuck::cast_slice::<f32, u8>(&expected));

        let edit = json!({ "set": { "target": "skin", "field": "gap", "value": 0.4 } });
        say(&mut socket, json!({ "edit": { "edits": [edit], "drag": 1 } })).await;
        let (document, _) = until(&mut socket, 2, |head| head["undo"] == 1).await;
        assert_eq!(document["unsaved"], true);
        let revised = |head: &Value| shows("implicit", at)(head) && head["revision"] == document["revision"];
        let (_, changed) = until(&mut socket, 3, revised).await;
        assert_ne!(before[5], changed[5], "the gap is seen");
        say(&mut socket, json!("undo")).await;
        let (document, _) = until(&mut socket, 2, |head| head["undo"] == 0).await;
        let revised = |head: &Value| shows("implicit", at)(head) && head["revision"] == document["revision"];
        let (_, after) = until(&mut socket, 3, revised).await;
        assert_eq!(before[5], after[5]);
    });
}

#[test]
fn smoothing_is_seen_at_once_and_gone_when_switched_off() {
    with_server(async |address, _| {
        let mut socket = connect(&address).await;
        let of = |id: u64, smooth: Value| {
            let mut view = view("lbs", 20.0);
            view["view"]["id"] = id.into();
            view["view"]["smooth"] = smooth;
            view
        };
        let mut shown = Vec::new();
        let strong = json!({ "factor": 0.5, "iterations": 30 });
        for (id, smooth) in [(1, Value::Null), (2, strong), (3, Value::Null)] {
            say(&mut socket, of(id, smooth)).await;
            let of_view = |head: &Value| head["view"] == id && shows("lbs", 20.0)(head);
            shown.push(until(&mut socket, 3, of_view).await.1.swap_remove(5));
        }
        assert_ne!(shown[0], shown[1], "the bend is smoothed");
        assert_eq!(shown[0], shown[2]);
        say(&mut socket, of(4, json!({ "factor": 7.0 }))).await;
        let (notice, _) = until(&mut socket, 5, |_| true).await;
        assert!(notice["text"].as_str().unwrap().contains("0 to 1"), "{notice}");
    });
}

#[test]
fn a_pause_holds_muscles_in_their_swing_and_scrubbing_lets_them_rest() {
    with_server_of("arm?resolution=2000", async |address, _| {
        let mut socket = connect(&address).await;
        let of = |id: u64, playing: bool, at: Option<f64>| {
            let mut view = view("muscles", 0.0);
            view["view"]["id"] = json!(id);
            view["view"]["clip"] = json!("shake");
            view["view"]["playing"] = json!(playing);
            view["view"]["at"] = json!(at);
            view
        };
        let bound =
            |head: &Value| head["looks"][0]["shown"] == "muscles" && head["looks"][0]["binding"] == false;
        say(&mut socket, of(1, false, Some(0.0))).await;
        until(&mut socket, 3, bound).await;
        say(&mut socket, of(2, true, Some(0.0))).await;
        until(&mut socket, 3, |head| head["at"].as_f64().unwrap() > 12.0).await;
        say(&mut socket, of(3, false, None)).await;
        let (paused, held) = until(&mut socket, 3, |head| head["playing"] == false).await;
        let at = paused["at"].as_f64().unwrap();
        assert!(at > 12.0, "{at}");
        say(&mut socket, of(4, false, None)).await;
        let (again_at, again) = until(&mut socket, 3, |head| head["view"] == 4).await;
        assert_eq!(again_at["at"], paused["at"]);
        assert_eq!(held[5], again[5], "held");
        say(&mut socket, of(5, false, Some(at))).await;
        let (_, rested) = until(&mut socket, 3, |head| head["view"] == 5).await;
        let floats = |bytes: &[u8]| -> Vec<f32> {
            bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
        };
        let [swinging, rested] = [&held, &rested].map(|arrays| floats(&arrays[5]));
        let farthest = swinging.iter().zip(&rested).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(farthest > 1e-3, "{farthest}");
        say(&mut socket, of(6, true, None)).await;
        until(&mut socket, 3, |head| head["at"].as_f64().unwrap() > at).await;
    });
}

#[test]
fn hostile_messages_are_counted_and_change_nothing() {
    with_server(async |address, studio| {
        let mut socket = connect(&address).await;
        say(&mut socket, view("dqs", 3.0)).await;
        let (_, before) = until(&mut socket, 3, shows("dqs", 3.0)).await;
        let text = studio.document().text().to_owned();
        let mut wrong = view("dqs", 3.0);
        wrong["view"]["pose"] = json!([[9999, [0.0, 0.0, 0.0, 1.0]]]);
        let mut unknown = view("dqs", 3.0);
        unknown["view"]["run"] = json!("rm -rf /");
        let hostile = [
            "{".repeat(5000),
            "\"quit\"".to_owned(),
            "x".repeat(crate::message::LARGEST_TEXT + 1),
            wrong.to_string(),
            unknown.to_string(),
            view("dqs", 3.0).to_string().replace("1.0", "1e999"),
        ];
        let count = || studio.refused.messages.load(std::sync::atomic::Ordering::Relaxed);
        for (k, message) in hostile.iter().enumerate() {
            socket.send(Message::text(message.clone())).await.unwrap();
            while count() < k as u64 + 1 {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
        }
        socket.send(Message::binary(vec![0u8; 64])).await.unwrap();
        say(&mut socket, view("lbs", 4.0)).await;
        until(&mut socket, 3, shows("lbs", 4.0)).await;
        say(&mut socket, view("dqs", 3.0)).await;
        let (head, after) = until(&mut socket, 3, shows("dqs", 3.0)).await;
        assert_eq!(before[5], after[5]);
        assert_eq!(head["refused"], 7);
        assert_eq!(studio.document().text(), text);
    });
}

#[test]
fn a_page_that_claims_to_have_drawn_the_future_still_gets_frames() {
    with_server(async |address, _| {
        let mut socket = connect(&address).await;
        say(&mut socket, view("dqs", 3.0)).await;
        until(&mut socket, 3, shows("dqs", 3.0)).await;
        say(&mut socket, json!({ "drawn": { "frame": u64::MAX } })).await;
        say(&mut socket, view("dqs", 4.0)).await;
        let (head, _) = until(&mut socket, 3, shows("dqs", 4.0)).await;
        assert_eq!(head["refused"], 1);
    });
}

#[test]
fn connections_that_are_reset_while_they_are_upgraded_take_no_page_s_place() {
    with_server(async |address, _| {
        let Address { port, token } = &address;
        let request = format!(
            "GET /{token}/engine/v{VERSION} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             Origin: http://127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        for _ in 0..400 {
            let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", *port)).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            // Without lingering, closing resets the connection.
            stream.set_zero_linger().unwrap();
        }
        let free = async {
            while status(*port, &request).await != 101 {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), free).await.expect("no place is left");
    });
}

#[test]
fn a_connection_that_says_nothing_is_ended() {
    with_server(async |address, _| {
        for said in ["", "GET / HTTP/1.1\r\nHost: 127"] {
            let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", address.port)).await.unwrap();
            stream.write_all(said.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            let end =
                tokio::time::timeout(std::time::Duration::from_secs(20), stream.read_to_end(&mut answer));
            end.await.expect("half a request is waited for without end").unwrap();
        }
    });
}

#[test]
fn nothing_is_overwritten_and_no_other_folder_is_written_to_without_a_yes() {
    with_server(async |address, studio| {
        let folder = tempfile::tempdir().unwrap();
        let there = |name: &str| folder.path().join(name).display().to_string();
        let mut socket = connect(&address).await;
        let of_save =
            |name: &str, confirmed: bool| json!({ "save": { "path": there(name), "confirmed": confirmed } });
        say(&mut socket, of_save("a.toml", false)).await;
        let (asked, _) = until(&mut socket, 5, |_| true).await;
        assert_eq!((&asked["level"], &asked["yes"]), (&json!("question"), &of_save("a.toml", true)));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        say(&mut socket, asked["yes"].clone()).await;
        until(&mut socket, 5, |head| head["level"] == "done").await;
        // Its own file is saved without asking, and the folder is now one the user chose.
        say(&mut socket, of_save("a.toml", false)).await;
        until(&mut socket, 5, |head| head["level"] == "done").await;
        std::fs::write(folder.path().join("b.toml"), "mine").unwrap();
        std::fs::write(folder.path().join("b.rest.obj"), "mine too").unwrap();
        say(&mut socket, of_save("b.toml", false)).await;
        let (asked, _) = until(&mut socket, 5, |_| true).await;
        assert!(asked["text"].as_str().unwrap().contains("b.toml exists"), "{asked}");
        let bake = |name: &str| json!({ "bake": { "path": there(name), "clip": "bend", "method": "lbs", "fps": 5.0 } });
        say(&mut socket, bake("b.pc2")).await;
        let (asked, _) = until(&mut socket, 5, |_| true).await;
        assert!(asked["text"].as_str().unwrap().contains("b.rest.obj exists"), "{asked}");
        assert_eq!(std::fs::read(folder.path().join("b.toml")).unwrap(), b"mine");
        say(&mut socket, asked["yes"].clone()).await;
        until(&mut socket, 6, |head| head["running"] == false).await;
        assert!(!studio.progress().failed, "{:?}", studio.progress());
        assert!(folder.path().join("b.pc2").exists());
    });
}

#[test]
fn a_bake_that_no_page_watches_ends_with_the_studio_and_leaves_nothing() {
    with_server(async |address, studio| {
        let folder = tempfile::tempdir().unwrap();
        let mut socket = connect(&address).await;
        let path = folder.path().join("long.pc2").display().to_string();
        let order =
            json!({ "path": path, "clip": "bend", "method": "lbs", "fps": 90000.0, "confirmed": true });
        say(&mut socket, json!({ "bake": order })).await;
        until(&mut socket, 6, |head| head["done"].as_u64() > Some(0)).await;
        drop(socket);
        tokio::task::spawn_blocking(move || {
            assert!(studio.progress().running, "it goes on without a page");
            studio.close();
            assert!(!studio.progress().running && studio.progress().outcome.contains("cancelled"));
        })
        .await
        .unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    });
}

#[test]
fn edits_that_were_not_saved_are_offered_to_the_next_page_and_taken_up() {
    let ingredients = Recipe::of("sample:cylinder").read().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let open = || open(ingredients.clone(), folder.path());
    let crashed = open();
    let character = &crashed.character;
    let text = crashed.document().text().replace("gap = 0.02", "gap = 0.07");
    crashed.change(|document| document.take_up(character, "the crashed page", &text)).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("cylinder.toml.unsaved")).unwrap(), text);
    drop(crashed);
    with_studio(open(), async |address, studio| {
        let mut socket = connect(&address).await;
        say(&mut socket, view("dqs", 3.0)).await;
        let (asked, _) = until(&mut socket, 5, |_| true).await;
        assert_eq!((&asked["yes"], &asked["no"]), (&json!("recover"), &json!("give_up")));
        say(&mut socket, asked["yes"].clone()).await;
        until(&mut socket, 2, |head| head["unsaved"] == true).await;
        assert_eq!(studio.document().text(), text);
    });
}

#[test]
fn two_pages_look_at_different_things_and_share_one_document() {
    with_server(async |address, _| {
        let (mut one, mut two) = (connect(&address).await, connect(&address).await);
        say(&mut one, view("dqs", 2.0)).await;
        say(&mut two, view("lbs", 8.0)).await;
        let (_, first) = until(&mut one, 3, shows("dqs", 2.0)).await;
        until(&mut two, 3, shows("lbs", 8.0)).await;
        let edit = json!({ "set": { "target": "skin", "field": "gap", "value": 0.1 } });
        say(&mut two, json!({ "edit": { "edits": [edit] } })).await;
        let (head, _) = until(&mut one, 2, |head| head["undo"] == 1).await;
        assert!(head["text"].as_str().unwrap().contains("gap = 0.1"));
        let (_, again) = until(&mut one, 3, shows("dqs", 2.0)).await;
        assert_eq!(first[5], again[5]);
        drop(two);
        say(&mut one, view("dqs", 5.0)).await;
        until(&mut one, 3, shows("dqs", 5.0)).await;
    });
}

#[test]
fn a_page_that_draws_nothing_is_sent_no_more_than_two_frames() {
    with_server(async |address, _| {
        let mut socket = connect(&address).await;
        let mut playing = view("dqs", 0.0);
        playing["view"]["playing"] = json!(true);
        say(&mut socket, playing).await;
        for frame in 1..=2 {
            let head = loop {
                let (kind, head, _) = receive(&mut socket).await;
                if kind == 3 {
                    break head;
                }
            };
            assert_eq!(head["frame"], frame);
        }
        let patience = std::time::Duration::from_millis(400);
        while let Ok((kind, ..)) = tokio::time::timeout(patience, receive(&mut socket)).await {
            assert_ne!(kind, 3, "a third frame");
        }
        say(&mut socket, json!({ "drawn": { "frame": 2 } })).await;
        until(&mut socket, 3, |head| head["frame"].as_u64() > Some(4)).await;
    });
}
