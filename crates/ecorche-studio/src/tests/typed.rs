//! The page's types of messages are the engine's.

use super::*;
use crate::message::decode;
use std::collections::{BTreeMap, BTreeSet};

/// The fields of every interface of the page's messages; those that may be missing end in `?`.
fn interfaces() -> BTreeMap<String, BTreeSet<String>> {
    let text = include_str!("../../web/src/messages.ts");
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut inside: Option<String> = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("export interface ") {
            inside = rest.split(' ').next().map(str::to_owned);
            found.entry(inside.clone().unwrap()).or_default();
        } else if line == "}" {
            inside = None;
        } else if let Some(name) = &inside
            && let Some((field, _)) = line.strip_prefix("  ").and_then(|line| line.split_once(": "))
            && field.chars().all(|c| c.is_alphanumeric() || "_?".contains(c))
        {
            found.get_mut(name).unwrap().insert(field.to_owned());
        }
    }
    found
}

#[test]
fn what_the_engine_sends_is_what_the_page_reads() {
    let known = interfaces();
    let same = |head: &Value, name: &str| {
        let sent: BTreeSet<String> = head.as_object().unwrap().keys().cloned().collect();
        assert_eq!(sent, known[name], "{name}");
    };
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::new(vec![folder.path().to_owned()], None, Arc::default());
    desk.place(Recipe::of("sample:arm?resolution=2000").read().unwrap()).unwrap();
    with_desk(desk, async |address| {
        let mut socket = connect(&address).await;
        let first = |list: &Value| list.as_array().unwrap()[0].clone();
        let (head, _) = until(&mut socket, 11, |_| true).await;
        same(&head, "Desk");
        let mut socket = connect(&address).await;
        let (head, _) = until(&mut socket, 1, |_| true).await;
        same(&head, "CharacterHead");
        for (list, name) in [("joints", "Joint"), ("clips", "Clip"), ("groups", "Group")] {
            same(&first(&head[list]), name);
        }
        let mut look = view("implicit", 4.0);
        look["view"]["clip"] = "curl".into();
        look["view"]["judged"] = true.into();
        look["view"]["inside"]["flesh"] = true.into();
        look["view"]["quantity"] = "stretch".into();
        look["view"]["inside"]["slice"] = json!({ "axis": "z", "at": 0.0, "bone": null });
        say(&mut socket, look).await;
        let (head, _) = until(&mut socket, 2, |_| true).await;
        same(&head, "Document");
        let (head, _) = until(&mut socket, 10, Value::is_object).await;
        same(&head, "Busy");
        let (head, _) = until(&mut socket, 3, shows("implicit", 4.0)).await;
        same(&head, "FrameHead");
        same(&first(&head["looks"]), "LookHead");
        same(&head["quantity"], "Quantity");
        let (head, _) = until(&mut socket, 4, |head| head["slice"].is_object()).await;
        same(&head, "InsideHead");
        same(&head["slice"], "SliceHead");
        let (head, _) = until(&mut socket, 13, |head| head["order"].is_object()).await;
        same(&head, "Verdict");
        say(&mut socket, json!({ "folder": { "path": "src", "endings": ["rs"] } })).await;
        let (head, _) = until(&mut socket, 12, |_| true).await;
        same(&head, "Folder");
        same(&first(&head["entries"]), "FolderEntry");
        let pose = json!({ "name": "fist", "joints": { "leftHand": [0.0, 0.0, 0.0, 1.0] } });
        say(&mut socket, json!({ "keep_pose": pose })).await;
        let (head, _) = until(&mut socket, 14, |head| head["poses"] != json!([])).await;
        same(&first(&head["poses"]), "KeptPose");
        let bake = json!({ "path": folder.path().join("a.pc2"), "clip": null, "method": "lbs", "smooth": null, "fps": null });
        say(&mut socket, json!({ "bake": bake })).await;
        let (head, _) = until(&mut socket, 6, |_| true).await;
        same(&head, "BakeProgress");
    });
}

#[test]
fn what_the_page_asks_for_is_what_the_engine_reads() {
    let known = interfaces();
    // A value of each field of a view; what the engine wants and does not get is an error, and so is what it does not know.
    let values = json!({
        "id": 1, "clip": null, "playing": false, "at": null, "speed": 1.0, "repeat": true, "pose": [],
        "looks": ["lbs"], "smooth": { "factor": 0.5, "iterations": 3 }, "quantity": null, "trace": null,
        "judged": true, "inside": { "flesh": true, "samples": null, "surface": null, "slice": null },
    });
    let view: BTreeMap<&String, &Value> = known["View"].iter().map(|name| (name, &values[name])).collect();
    decode(&json!({ "view": view }).to_string()).unwrap();
    let inside = values["inside"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(known["InsideRequest"], inside);
    // The names of requests, as the page's union has them.
    let text = include_str!("../../web/src/messages.ts");
    let union = text.split_once("export type Request =").unwrap().1.split_once(';').unwrap().0;
    let plain = union.split('"').skip(1).step_by(2);
    for name in plain {
        assert!(decode(&format!("\"{name}\"")).is_ok(), "{name}");
    }
    let holding = union.lines().filter_map(|line| line.trim().strip_prefix("| { ")?.split_once(':'));
    for (name, _) in holding {
        // An unknown name is told apart from one whose content is missing.
        let told = decode(&format!("{{\"{name}\": 7}}")).unwrap_err();
        assert!(!told.contains("unknown variant"), "{name}: {told}");
    }
}
