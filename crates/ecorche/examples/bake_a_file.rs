//! Lesson 1: read a character, choose how its skin is deformed, write a point cache.
//!
//! `cargo run --release -p ecorche --example bake_a_file -- hero.fbx hero.pc2`; without arguments it bakes a built-in arm.

use ecorche::bake::{self, bake};
use ecorche::deform::{Body, Stack};
use ecorche::output::obj;
use ecorche::sampling::{Plan, Sampling};
use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let (file, out) = (arguments.next(), arguments.next().unwrap_or("arm.pc2".into()));
    for path in run(file.as_deref(), &out)? {
        println!("{}", path.display());
    }
    Ok(())
}

fn run(file: Option<&Path>, out: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    // Reading repairs what it can. The list of repairs tells a user what was wrong with the file.
    let character = Arc::new(match file {
        Some(file) => ecorche::character::read(file)?,
        None => ecorche::samples::build("arm")?,
    });
    for repair in &character.repairs {
        println!("{repair}");
    }
    // Binding is done once per character and stack; every frame after it is cheap.
    let body = Body::bind(character.clone(), Stack::implicit(), None)?;
    // The first clip at six frames a second. The extension of `out` chooses the format of the cache.
    let plan = Plan::new(character.clips.first(), &Sampling { fps: Some(6.0), frames: None })?;
    let mut baked = bake(&body, &plan, out, |_frames_done| ControlFlow::Continue(()))?;
    println!("{} frames, {} vertices fell back to skinning", baked.frames, baked.fell_back);
    // A point cache has positions alone; this is the mesh that they belong to.
    let rest = bake::rest(&character)?;
    baked.paths.push(obj::write(&out.with_extension("rest.obj"), &character, &rest)?);
    Ok(baked.paths)
}

#[test]
fn an_arm_becomes_a_cache_and_the_mesh_to_put_it_on() {
    let folder = tempfile::tempdir().unwrap();
    let paths = run(None, &folder.path().join("arm.pc2")).unwrap();
    let names: Vec<_> = paths.iter().map(|p| p.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["arm.pc2", "arm.rest.obj"]);
    assert!(paths.iter().all(|path| path.metadata().unwrap().len() > 1000));
}
