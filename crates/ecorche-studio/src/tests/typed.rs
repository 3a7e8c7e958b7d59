//! The page's types of messages are the engine's.
//!
//! `UPDATE=1 cargo test -p ecorche-studio typed` writes them again.

use super::*;
use crate::message::{self, Kind};
use crate::wire::{Typed, alternatives};
use crate::{
    bake, character, desk, document, drawn, engine, film, flesh, folder, inside, judge, poses, recent,
};
use ecorche::anatomy::{Edit, Target};

/// The page's text of types, as the engine has them.
fn types() -> String {
    let mut text = String::from(
        "/**\n * What page and engine say to each other. Made from the engine's own types; do not edit it by hand\n \
         * (`UPDATE=1 cargo test -p ecorche-studio typed` writes it again).\n */\n\n\
         import type { Fat, Keys, Muscle, Parametric, Skin, Wrinkles } from \"./anatomy_keys.ts\";\n\
         import type { Edit, Side, Smooth, Vector } from \"./messages.ts\";\n",
    );
    text += &format!(
        "\nexport const VERSION = {VERSION};\n\n/** What a message of the engine is about. */\nexport const Kind = {{\n"
    );
    let kinds = [
        Kind::Character,
        Kind::Document,
        Kind::Frame,
        Kind::Inside,
        Kind::Notice,
        Kind::Bake,
        Kind::Graph,
        Kind::Flesh,
        Kind::Pieces,
        Kind::Busy,
        Kind::Desk,
        Kind::Folder,
        Kind::Verdict,
        Kind::Poses,
        Kind::Crowd,
    ];
    for kind in kinds {
        text += &format!("  {kind:?}: {},\n", kind as u16);
    }
    text += "} as const;\n";
    let heads: &[fn() -> String] = &[
        message::Look::declaration,
        character::Joint::declaration,
        character::Clip::declaration,
        character::Group::declaration,
        character::CharacterHead::declaration,
        document::DocumentHead::declaration,
        drawn::Cube::declaration,
        engine::LookHead::declaration,
        engine::ColourTable::declaration,
        engine::QuantityHead::declaration,
        engine::FrameHead::declaration,
        flesh::Owner::declaration,
        flesh::Owners::declaration,
        inside::SurfaceHead::declaration,
        inside::SliceHead::declaration,
        inside::InsideHead::declaration,
        inside::GraphHead::declaration,
        engine::Level::declaration,
        engine::Notice::declaration,
        engine::Busy::declaration,
        bake::BakeProgress::declaration,
        judge::JudgeOrder::declaration,
        judge::Verdict::declaration,
        film::FilmHead::declaration,
        recent::RecentFile::declaration,
        desk::SampleCard::declaration,
        desk::DeskHead::declaration,
        folder::FolderEntry::declaration,
        folder::Folder::declaration,
        poses::KeptPose::declaration,
        message::Bone::declaration,
        message::SurfaceLook::declaration,
        message::SliceLook::declaration,
        message::InsideRequest::declaration,
        message::View::declaration,
        message::OpenOrder::declaration,
        message::BakeOrder::declaration,
        message::Request::declaration,
    ];
    for head in heads {
        text += "\n";
        text += &head();
    }
    text
}

#[test]
fn the_pages_types_are_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/src/engine_types.ts");
    let wanted = types();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "web/src/engine_types.ts is not what the engine says; run UPDATE=1 cargo test -p ecorche-studio typed"
    );
}

/// The edits are the library's own; the page's union of them is read here, and compared by name.
#[test]
fn the_pages_edits_are_the_librarys() {
    let page = include_str!("../../web/src/messages.ts");
    let edits = alternatives(page, "Edit");
    for name in &edits {
        let told = serde_json::from_value::<Edit>(json!({ (*name): 7 })).unwrap_err().to_string();
        assert!(!told.contains("unknown variant"), "{name}: {told}");
    }
    // A splice is what the engine makes of an edit; the page sends none.
    let told = serde_json::from_value::<Edit>(json!({ "nothing": 7 })).unwrap_err().to_string();
    let known = told.split('`').skip(3).step_by(2).filter(|name| *name != "splice");
    assert_eq!(known.collect::<Vec<_>>(), edits);
    let target = json!({ "entry": ["parametric", "biceps", "left"] });
    for target in [json!("skin"), json!("wrinkles"), json!({ "joint": "a" }), target, json!({ "keys": 0 })] {
        serde_json::from_value::<Target>(target).unwrap();
    }
}

#[test]
fn the_engine_reads_a_view_as_the_page_sends_it() {
    let view = json!({
        "id": 1, "clip": null, "playing": false, "at": null, "speed": 1.0, "repeat": true, "pose": [],
        "looks": ["lbs"], "smooth": { "factor": 0.5, "iterations": 3 }, "quantity": null, "trace": null,
        "judged": true, "inside": { "flesh": true, "samples": null, "surface": null, "slice": null },
    });
    message::decode(&json!({ "view": view }).to_string()).unwrap();
}
