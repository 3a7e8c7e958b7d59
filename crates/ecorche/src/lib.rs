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
//! use ecorche::{character::Pose, deform::{Body, Workspace}, skinning::Method};
//! use std::sync::Arc;
//!
//! let character = Arc::new(ecorche::samples::build("cylinder")?);
//! let body = Body::bind(character.clone(), Method::DualQuaternion, None);
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
//! # use ecorche::{bake::bake, deform::Body, sampling::{Plan, Sampling}, skinning::Method};
//! # use std::{ops::ControlFlow, sync::Arc};
//! # let character = Arc::new(ecorche::samples::build("cylinder")?);
//! # let body = Body::bind(character.clone(), Method::DualQuaternion, None);
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("bend.pc2");
//! let plan = Plan::new(character.clips.first(), &Sampling { fps: Some(24.0), frames: Some(0..=9) })?;
//! let baked = bake(&body, &plan, &path, |_frames_done| ControlFlow::Continue(()))?;
//! assert_eq!(baked.frames, 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! How good is it? [`measure`] counts triangles that pass through each other, volume, stretch, popping.
//! ```
//! # use ecorche::{deform::Body, sampling::{Plan, Sampling}, skinning::{Method, Surface}};
//! # use std::sync::Arc;
//! use ecorche::measure::{Judge, judge_clip};
//! # let character = Arc::new(ecorche::samples::build("cylinder")?);
//! # let plan = Plan::new(character.clips.first(), &Sampling { fps: Some(4.0), frames: None })?;
//! let surface = Surface::new(&character).expect("the cylinder is skinned");
//! let judge = Judge::of(&surface)?;
//! let volume = |method| {
//!     let body = Body::bind(character.clone(), method, None);
//!     judge_clip(&judge, &surface, &body, &plan, |_| ()).map(|figures| figures.of("volume_loss").unwrap().worst)
//! };
//! // Bent, a linearly blended tube loses volume; dual quaternions lose less.
//! assert!(volume(Method::DualQuaternion)? < volume(Method::Linear)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! [`portrait`] draws it, [`inspect`] gives numbers per vertex to look at.
//!
//! # What it does not do
//! The methods here are geometric: each vertex goes where its joints take it, and none knows that skin
//! can touch skin. Deep bends pass through themselves; the measurements say by how much.

pub mod anatomy;
pub mod bake;
pub mod cache;
pub mod character;
pub mod deform;
pub mod dynamics;
pub mod field;
pub mod frame;
pub mod geom;
pub mod inspect;
pub mod math;
pub mod measure;
pub mod muscle;
pub mod output;
pub mod portrait;
pub mod samples;
pub mod sampling;
pub mod skinning;
pub mod tissue;
