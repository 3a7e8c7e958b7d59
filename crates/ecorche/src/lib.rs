//! Écorché deforms the skin of animated characters.
//!
//! Lengths are metres, angles radians, time seconds. Y is up, axes are right-handed, a character
//! faces +Z. Files keep their own units and axes: [`character::World`] converts between the two. A field is 0.5 on the surface and
//! above inside.
//!
//! # The pipeline
//! A character comes from a file ([`character::read`]) or is made by code ([`samples`]). What was wrong in a file is
//! repaired, and every repair is listed.
//! ```
//! let character = ecorche::samples::build("cylinder")?;
//! assert!(character.repairs.is_empty());
//! let mesh = &character.meshes[0];
//! assert_eq!(mesh.weld.surface_of_vertex.len(), mesh.positions.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! [`deform::Body::bind`] makes it ready for a method; [`deform::Body::deform`] moves it into a pose. The
//! result has the file's vertices in the file's order.
//! ```
//! use ecorche::{character::Pose, deform::{Body, Stack, Workspace}};
//! use std::sync::Arc;
//!
//! let character = Arc::new(ecorche::samples::build("cylinder")?);
//! let body = Body::bind(character.clone(), Stack::implicit(), None)?;
//! let mut pose = Pose::rest(&character);
//! let clip = &character.clips[0];
//! clip.sample(clip.end, &mut pose);
//! let frame = body.deform(&pose, clip.end, &mut Workspace::default());
//! assert_eq!(frame.meshes[0].positions.len(), character.meshes[0].positions.len());
//! assert_eq!(frame.report.fell_back, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! What lies under the skin is written in an [`anatomy`] file: TOML, made to be edited by hand. [`anatomy::preset`] places
//! muscles in a humanoid, and [`anatomy::init`] writes them to a first file. A mistake in a file is reported with its place and
//! remedy.
//! ```
//! use ecorche::anatomy::AnatomyFile;
//!
//! let text = r#"
//!     version = 1
//!     [[muscle]]
//!     name = "biceps brachii"
//!     side = "left"
//!     origin = { bone = "leftUpperArm", at = [0.0, 0.01, 0.025] }
//!     insertion = { bone = "leftLowerArm", at = [0.0, 0.045, 0.012] }
//!     width = 0.017
//! "#;
//! let file = AnatomyFile::parse("arm.toml", text.to_owned())?;
//! file.check(&ecorche::samples::build("arm")?.skeleton)?;
//! let mistake = AnatomyFile::parse("arm.toml", text.replace("width", "widht")).unwrap_err();
//! assert!(mistake.to_string().contains("did you mean \"width\"?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! A [`recipe::Recipe`] holds character, motion, weights, anatomy and stack in one value that can be saved, and builds a body
//! from it. Muscles swing, so a frame depends on those before it. A [`deform::Playback`] gives every frame as the whole clip has it,
//! in whatever order frames are asked for, and its state can be saved to continue later.
//! [`deform::Body::deform_next`] does the same for poses that come one by one, as in a game.
//! ```
//! use ecorche::deform::{Playback, Workspace};
//! use ecorche::recipe::{MuscleUse, Recipe};
//! # use ecorche::sampling::{Plan, Sampling};
//!
//! let recipe = Recipe { muscles: MuscleUse::Dynamic, ..Recipe::of("sample:arm?resolution=2000") };
//! let built = recipe.build(None)?;
//! let arm = &built.ingredients.character;
//! let plan = Plan::new(arm.clip("curl"), &Sampling { fps: Some(10.0), frames: None })?;
//! let mut workspace = Workspace::default();
//! let mut playback = Playback::new(&built.body, &plan);
//! let straight = playback.frame(0, &mut workspace);
//! let bent = playback.frame(8, &mut workspace);
//! // The curl shortens the biceps, the first of the arm's muscles.
//! let length = |frame: &ecorche::frame::Frame| frame.found.flesh.muscles[0].shape.length();
//! assert!(length(&bent) < 0.9 * length(&straight));
//! // Resumed from its state, the clip goes on with the same bits.
//! let mut resumed = Playback::resume(&built.body, &plan, playback.state());
//! assert_eq!(resumed.frame(9, &mut workspace), playback.frame(9, &mut workspace));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! Layers on the [`surface`], such as corrective smoothing, run last and work with every stack. A [`crowd`] plays many bodies at
//! once, with [parametric muscles](muscle::parametric) that cost little.
//!
//! A [`sampling::Plan`] says which frames; [`bake::bake`] writes them to a cache that other programs read.
//! Nothing appears under its final name before it is complete.
//! ```
//! # use ecorche::{bake::bake, deform::{Body, Stack}, sampling::{Plan, Sampling}};
//! # use std::{ops::ControlFlow, sync::Arc};
//! # let character = Arc::new(ecorche::samples::build("cylinder")?);
//! # let body = Body::bind(character.clone(), Stack::dual_quaternion(), None)?;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("bend.pc2");
//! let plan = Plan::new(character.clips.first(), &Sampling { fps: Some(24.0), frames: Some(0..=9) })?;
//! let baked = bake(&body, &plan, &path, |_frames_done| ControlFlow::Continue(()))?;
//! assert_eq!(baked.frames, 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! How good is it? [`measure`] counts triangles that pass through each other, volume, stretch, popping.
//! ```
//! # use ecorche::{deform::{Body, Stack}, sampling::{Plan, Sampling}, skinning::Surface};
//! # use std::{ops::ControlFlow, sync::Arc};
//! use ecorche::measure::{Judge, judge_clip};
//! # let character = Arc::new(ecorche::samples::build("cylinder")?);
//! # let plan = Plan::new(character.clips.first(), &Sampling { fps: Some(4.0), frames: None })?;
//! let surface = Surface::new(&character).expect("the cylinder is skinned");
//! let judge = Judge::of(&surface)?;
//! let volume = |stack| -> Result<_, Box<dyn std::error::Error>> {
//!     let body = Body::bind(character.clone(), stack, None)?;
//!     let figures = judge_clip(&judge, &surface, &body, &plan, |_| ControlFlow::Continue(()))?;
//!     Ok(figures.of("volume_loss").unwrap().worst)
//! };
//! // Bent, a linearly blended tube loses volume; dual quaternions lose less.
//! assert!(volume(Stack::dual_quaternion())? < volume(Stack::linear())?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! [`portrait`] draws it, [`inspect`] gives numbers per vertex to look at.
//!
//! # How the implicit method works
//! Skin that touches nothing stays where skinning takes it, apart from a smooth swelling at bent joints. For contact, the skin
//! is cut into [`parts`], and each part is approximated by a scalar [`field`]. The fields move with their joints; where two of
//! them meet, [`tracking`] keeps every vertex on its own side, and the skin around follows smoothly. The other methods know
//! no contact; the measurements show what that costs.
//! A fold inside one part's own skin is not contact between fields: it is only untangled.

pub mod anatomy;
pub mod bake;
pub mod bench;
pub mod cache;
pub mod character;
pub mod crowd;
pub mod deform;
mod dynamics;
pub mod field;
pub mod frame;
pub mod geom;
pub mod hero;
pub mod input;
pub mod inspect;
pub mod math;
pub mod measure;
pub mod muscle;
pub mod output;
pub mod parts;
pub mod pieces;
pub mod portrait;
pub mod recipe;
pub mod samples;
pub mod sampling;
mod schema;
pub mod skinning;
pub mod surface;
pub mod tissue;
pub mod tracking;
pub mod watch;
