//! Characters that are opened while pages look on.

use super::*;

/// A desk with a character of this sample, as a page finds it.
fn desk(sample: &str) -> Arc<Desk> {
    let desk = Desk::new(Vec::new(), None, Arc::default());
    desk.place(Recipe::of(format!("sample:{sample}")).read().unwrap()).unwrap();
    desk
}

#[test]
fn a_page_gets_the_next_character_on_the_same_connection_and_old_requests_do_not_reach_it() {
    let desk = desk("cylinder");
    with_desk(desk, async |address| {
        let mut socket = connect(&address).await;
        let (first, _) = until(&mut socket, 1, |_| true).await;
        assert_eq!(first["name"], "cylinder");
        say(&mut socket, view("dqs", 2.0)).await;
        until(&mut socket, 3, shows("dqs", 2.0)).await;
        say(&mut socket, json!({ "open": { "character": "sample:arm?resolution=2000" } })).await;
        let (second, _) = until(&mut socket, 1, |head| head["name"] == "arm").await;
        assert_ne!(first["number"], second["number"]);
        // Said before the page knew of the arm: another clip, an edit of another anatomy.
        say(&mut socket, view("dqs", 3.0)).await;
        let edit = json!({ "set": { "target": "skin", "field": "gap", "value": 0.07 } });
        say(&mut socket, json!({ "edit": { "edits": [edit], "drag": null } })).await;
        say(&mut socket, json!({ "ready": { "character": second["number"] } })).await;
        let mut curl = view("dqs", 5.0);
        curl["view"]["clip"] = "curl".into();
        say(&mut socket, curl).await;
        let (head, _) = until(&mut socket, 3, shows("dqs", 5.0)).await;
        assert_eq!(head["refused"], 0);
        say(&mut socket, json!("undo")).await;
        say(&mut socket, json!({ "save": { "path": "a.txt" } })).await;
        until(&mut socket, 5, |head| head["text"].as_str().is_some_and(|text| text.contains("a.txt"))).await;
    });
}

#[test]
fn a_character_that_cannot_be_read_leaves_the_open_one_and_says_why() {
    let desk = desk("cylinder");
    with_desk(desk.clone(), async |address| {
        let mut socket = connect(&address).await;
        until(&mut socket, 1, |_| true).await;
        say(&mut socket, json!({ "open": { "character": "nowhere/hero.glb" } })).await;
        let (told, _) = until(&mut socket, 11, |head| head["problem"].is_string()).await;
        assert!(told["problem"].as_str().unwrap().contains("hero.glb"), "{told}");
        assert_eq!((&told["open"], &told["opening"]), (&json!(1), &Value::Null));
        assert_eq!(desk.here().studio.unwrap().character.name, "cylinder");
        // A motion alone needs a character, and files that were dropped on an earlier run are gone.
        let order = json!({ "character": "hero.glb", "batch": "7" });
        say(&mut socket, json!({ "open": order })).await;
        until(&mut socket, 11, |head| {
            head["problem"].as_str().is_some_and(|t| t.contains("drop them again"))
        })
        .await;
    });
}

#[test]
fn a_page_without_a_character_lists_folders_and_takes_files_of_its_own_only() {
    let desk = Desk::new(Vec::new(), None, Arc::default());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("hero.glb"), "x").unwrap();
    std::fs::write(folder.path().join("notes.txt"), "x").unwrap();
    std::fs::create_dir(folder.path().join("more")).unwrap();
    with_desk(desk.clone(), async |address| {
        let mut socket = connect(&address).await;
        let (start, _) = until(&mut socket, 11, |_| true).await;
        assert_eq!((&start["open"], start["samples"].as_array().unwrap().len()), (&Value::Null, 7));
        say(&mut socket, view("dqs", 2.0)).await;
        say(&mut socket, json!({ "folder": { "path": folder.path(), "endings": ["glb"] } })).await;
        let (listed, _) = until(&mut socket, 12, |_| true).await;
        let names: Vec<&str> =
            listed["entries"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["more", "hero.glb"]);
        say(&mut socket, json!({ "folder": { "path": folder.path().join("none"), "endings": [] } })).await;
        let (listed, _) = until(&mut socket, 12, |_| true).await;
        assert!(listed["problem"].as_str().unwrap().contains("none"));
        // Files come from this page alone.
        let Address { port, token } = &address;
        let here = format!("127.0.0.1:{port}");
        let send = |name: &str, origin: &str| {
            format!(
                "POST /{token}/drop/7/{name} HTTP/1.1\r\nHost: {here}\r\n{origin}Content-Length: 3\r\n\r\nabc"
            )
        };
        let own = format!("Origin: http://{here}\r\n");
        assert_eq!(status(*port, &send("a.glb", &own)).await, 200);
        assert_eq!(std::fs::read(desk.dropped.path("7", "a.glb").unwrap()).unwrap(), b"abc");
        assert_eq!(status(*port, &send("a.glb", "")).await, 403);
        assert_eq!(status(*port, &send("a.glb", "Origin: http://example.org\r\n")).await, 403);
        assert_eq!(status(*port, &send("..%2Fa.glb", &own)).await, 400);
    });
    assert!(desk.dropped.path("7", "a.glb").is_err(), "the copy is gone with the studio");
}
