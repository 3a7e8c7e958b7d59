//! Écorché deforms the skin of animated characters.
//!
//! Lengths are metres, angles radians, time seconds. Y is up, axes are right-handed, a character
//! faces +Z. Files keep their own units and axes: [`character::World`] leads there and back.
//!
//! # The pipeline
//! A character comes from a file ([`character::read`]) or is made by code ([`samples`]). Whatever was
//! wrong in a file has been mended, and is listed.
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
//! The skin is cut into [`parts`], each of which a scalar [`field`] stands for: 0.5 on the surface, above inside.
//! The fields move with their joints, and [`tracking`] brings every vertex to the value it had at rest, on its
//! own side of whatever it meets. The other methods take each vertex where its joints say and do not know
//! that skin can touch skin; the measurements say what that costs.

pub mod anatomy;
pub mod bake;
pub mod bench;
pub mod cache;
pub mod character;
pub mod deform;
pub mod dynamics;
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
