//! From definitions and a bind pose to a [`Musculature`].

use super::definition::{Attachment, BodyDef, FatDef, MuscleDef};
use super::fibre::{Fibre, fibres};
use super::musculature::{FatData, FibreData, Musculature};
use super::parametric::ParametricError;
use super::shape::spindle::{ProfileError, Profiles, SpindleForm};
use super::shape::{Form, ShapeState};
use super::{activation, bone, keys};
use crate::character::Skeleton;
use crate::dynamics::{Anchor, Distance, Obstacle, Resists, Rigid, StrandSpec, System, Tie};
use crate::geom::TriMesh;
use crate::geom::sdf::SdfError;
use crate::geom::surface_file::{self, SurfaceFileError};
use crate::schema::{Path, Problem};
use glam::{Affine3A, DMat3, DQuat, DVec3};
use std::collections::BTreeSet;
use std::f64::consts::PI;
use std::sync::Arc;

/// Density of muscle, kg/m^3.
const MUSCLE_DENSITY: f64 = 1060.0;
/// Density of fat, kg/m^3.
const FAT_DENSITY: f64 = 920.0;
/// At human size, m/s^2.
const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
/// Rest length of a slack muscle's links over their length at bind: their tension is then nearly constant. The thesis'
/// value.
const TONE_REST: f64 = 0.02;
/// How fast unwanted bends of an axis straighten, 1/s per particle squared: a bend over the whole length takes a second,
/// a zigzag of 16 particles 10 ms. Without it contacts fold the brachialis of the arm sample against its bone.
const STRAIGHTENS: f64 = 0.3;
/// Stiffness with which a via point holds the axis at human size, N/m: 3 mm for 6 N.
const VIA_STIFFNESS: f64 = 2000.0;
/// Length of a human's muscles, metres: the median of the athlete's.
const HUMAN_MUSCLE: f64 = 0.267;

/// How far a fat pad can move from its place, of its shortest half axis. With 0.1 pads move by 2 mm in a jump, which is not
/// visible. Without a limit five of the athlete's lag by 10 cm there and are reset.
pub(super) const PAD_REACH: f64 = 0.5;

/// Why a musculature cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A bone that the skeleton does not have.
    #[error("{title}: no joint \"{bone}\" in the skeleton; use one of its joints' names")]
    NoSuchBone {
        /// Muscle, fat pad or "bone".
        title: String,
        /// The name.
        bone: String,
    },
    /// Two of the same name and side.
    #[error("{0}: defined twice; give each its own name or side")]
    Duplicate(String),
    /// A value that an anatomy file would not allow either.
    #[error("{title}: {problem}")]
    Value {
        /// Muscle or fat pad.
        title: String,
        /// Which key, and what it must be.
        problem: Problem,
    },
    /// An invalid profile.
    #[error("{title}: {source}")]
    Profile {
        /// The muscle.
        title: String,
        /// Why.
        source: ProfileError,
    },
    /// Origin, via points or insertion at the same place.
    #[error("{0}: origin, via points and insertion must be apart; two of them coincide at bind")]
    NoLength(String),
    /// Muscles thicker than long.
    #[error(
        "{title}: {width} m wide but only {length:.3} m long; the width is the mean radius, make it smaller"
    )]
    TooWide {
        /// The muscle.
        title: String,
        /// Its width.
        width: f32,
        /// Its length at bind.
        length: f64,
    },
    /// A bone's surface that cannot be read.
    #[error("bone \"{bone}\": {source}")]
    Surface {
        /// The bone.
        bone: String,
        /// Why.
        source: SurfaceFileError,
    },
    /// A bone's surface that is not closed or too large.
    #[error("bone \"{bone}\": {source}")]
    Distance {
        /// The bone.
        bone: String,
        /// Why.
        source: SdfError,
    },
    /// A parametric muscle.
    #[error(transparent)]
    Parametric(#[from] ParametricError),
}

impl BuildError {
    /// The anatomy entry in question: the key of its list, the title of the muscle or fat pad or the name of the bone, and the
    /// key within the entry, which is empty for the entry as a whole.
    pub fn place(&self) -> (&'static [&'static str], &str, Path) {
        const FLESH: &[&str] = &["muscle", "fat"];
        const BONE: &[&str] = &["bone"];
        const PARAMETRIC: &[&str] = &["parametric"];
        let key = |key: &str| Path::default().key(key);
        match self {
            Self::NoSuchBone { title, bone } if title == "bone" => (BONE, bone, key("bone")),
            Self::NoSuchBone { title, .. } => (FLESH, title, Path::default()),
            Self::Duplicate(title) => (FLESH, title, key("name")),
            Self::Value { title, problem } => (FLESH, title, problem.path.clone()),
            Self::Profile { title, .. } => (FLESH, title, key("profile")),
            Self::NoLength(title) => (FLESH, title, Path::default()),
            Self::TooWide { title, .. } => (FLESH, title, key("width")),
            Self::Parametric(error) => {
                let whole = error.key.is_empty();
                (PARAMETRIC, &error.title, if whole { Path::default() } else { key(error.key) })
            }
            Self::Surface { bone, .. } | Self::Distance { bone, .. } => (BONE, bone, key("mesh")),
        }
    }
}

impl Musculature {
    /// Makes muscles and fat ready. `bind`: world-from-joint of every joint at bind; `folder`: where the bones'
    /// surface files are relative to; `extra`: further obstacles (skins to stay inside), whose frames are
    /// joints.
    pub fn new(
        definition: &BodyDef,
        skeleton: &Skeleton,
        bind: &[Affine3A],
        folder: &std::path::Path,
        extra: Vec<Obstacle>,
    ) -> Result<Self, BuildError> {
        let bind: Vec<Rigid> = bind.iter().map(|&world| Rigid::from_affine(world)).collect();
        let all_fibres = all_fibres(definition, skeleton, &bind)?;
        let scale = scale(definition, &all_fibres);
        let bone_surfaces = bone_surfaces(definition, skeleton, &bind, folder)?;
        let mut obstacles =
            bone::obstacles(skeleton, &bind, &definition.bone, &bone_surfaces, scale).map_err(
                |(index, source)| BuildError::Distance { bone: definition.bone[index].bone.clone(), source },
            )?;
        let first_extra = obstacles.len();
        obstacles.extend(extra);
        let mut titles = BTreeSet::new();
        let (mut strands, mut fibre_data, mut fat_data) = (Vec::new(), Vec::new(), Vec::new());
        for (index, (muscle, found)) in definition.muscle.iter().zip(all_fibres).enumerate() {
            if !titles.insert(muscle.title()) {
                return Err(BuildError::Duplicate(muscle.title()));
            }
            let profiles = Profiles::from_definition(&muscle.profile)
                .map_err(|source| BuildError::Profile { title: muscle.title(), source })?;
            let profiles = Arc::new(profiles);
            for (number, fibre) in found.into_iter().enumerate() {
                let data = FibreData::new(
                    index,
                    number,
                    muscle,
                    &fibre,
                    &profiles,
                    &bind,
                    &obstacles[..first_extra],
                )?;
                let mut spec = strand(muscle, fibre, &data, scale);
                if muscle.collide.skin {
                    let skins = &obstacles[first_extra..];
                    let around = spec.position.iter().filter_map(|&p| deepest_in(skins, &bind, p));
                    // And in the skin of its own bones: at the border of two parts the other's skin would pull it away.
                    let own =
                        |o: &usize| spec.controls.iter().any(|control| control.frame == skins[*o].frame);
                    let around: BTreeSet<usize> = around.chain((0..skins.len()).filter(own)).collect();
                    spec.inside_of = around.into_iter().map(|o| first_extra + o).collect();
                }
                strands.push(spec);
                fibre_data.push(data);
            }
        }
        for (index, fat) in definition.fat.iter().enumerate() {
            if !titles.insert(fat.title()) {
                return Err(BuildError::Duplicate(fat.title()));
            }
            let (data, spec) = pad(index, fat, skeleton, &bind)?;
            fat_data.push(data);
            strands.push(spec);
        }
        let system = System::new(bind, strands, obstacles, GRAVITY * scale, scale);
        Ok(Self { definition: definition.clone(), system, fibres: fibre_data, fat: fat_data, bone_surfaces })
    }
}

/// The fibres of every muscle.
fn all_fibres(
    definition: &BodyDef,
    skeleton: &Skeleton,
    bind: &[Rigid],
) -> Result<Vec<Vec<Fibre>>, BuildError> {
    let of = |muscle: &MuscleDef| {
        check(muscle, skeleton)?;
        // Names were checked.
        let bone_of = |a: &Attachment| skeleton.find(&a.bone).unwrap_or(0);
        fibres(muscle, bind, bone_of).ok_or_else(|| BuildError::NoLength(muscle.title()))
    };
    definition.muscle.iter().map(of).collect()
}

/// Size of a body relative to a human, by the median length of its muscles: so that an arm alone has the size of one on a body.
/// Fat pads count as a quarter as long.
fn scale(definition: &BodyDef, fibres: &[Vec<Fibre>]) -> f64 {
    let length = |f: &Fibre| -> f64 { f.points.windows(2).map(|p| p[0].distance(p[1])).sum() };
    let muscles = fibres.iter().filter_map(|fibres| fibres.get(fibres.len() / 2).map(length));
    let mut lengths: Vec<f64> = muscles.collect();
    if lengths.is_empty() {
        lengths.extend(definition.fat.iter().map(|pad| 4.0 * f64::from(pad.radii.max_element())));
    }
    lengths.sort_by(f64::total_cmp);
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or(HUMAN_MUSCLE);
    if median > 0.0 && median.is_finite() { median / HUMAN_MUSCLE } else { 1.0 }
}

/// The skin a point is deepest in at bind; `None` if it is in none.
fn deepest_in(skins: &[Obstacle], bind: &[Rigid], p: DVec3) -> Option<usize> {
    let depth = |skin: &Obstacle| skin.free_distance(bind[skin.frame].point_back(p)).0;
    let depths = skins.iter().enumerate().map(|(o, skin)| (o, depth(skin)));
    depths.filter(|d| d.1 > 0.0).max_by(|a, b| a.1.total_cmp(&b.1)).map(|d| d.0)
}

/// For each bone of the definition that names a surface: its joint, and the surface in the joint's coordinates, metres.
fn bone_surfaces(
    definition: &BodyDef,
    skeleton: &Skeleton,
    bind: &[Rigid],
    folder: &std::path::Path,
) -> Result<Vec<Option<(usize, TriMesh)>>, BuildError> {
    let mut surfaces = Vec::new();
    for bone in &definition.bone {
        let joint = skeleton
            .find(&bone.bone)
            .ok_or_else(|| BuildError::NoSuchBone { title: "bone".to_owned(), bone: bone.bone.clone() })?;
        let surface = match &bone.mesh {
            None => None,
            Some(file) => {
                let mut mesh = surface_file::read(&folder.join(file))
                    .map_err(|source| BuildError::Surface { bone: bone.bone.clone(), source })?;
                for p in &mut mesh.positions {
                    *p *= bone.mesh_scale;
                    if bone.mesh_in_bind_space {
                        *p = bind[joint].point_back(p.as_dvec3()).as_vec3();
                    }
                }
                Some((joint, mesh))
            }
        };
        surfaces.push(surface);
    }
    Ok(surfaces)
}

fn check(muscle: &MuscleDef, skeleton: &Skeleton) -> Result<(), BuildError> {
    let title = || muscle.title();
    for a in muscle.origin.0.iter().chain(&muscle.insertion.0).chain(&muscle.via) {
        if skeleton.find(&a.bone).is_none() {
            return Err(BuildError::NoSuchBone { title: title(), bone: a.bone.clone() });
        }
    }
    match keys::MUSCLE.problems_of(muscle).into_iter().next() {
        Some(problem) => Err(BuildError::Value { title: title(), problem }),
        None => Ok(()),
    }
}

impl FibreData {
    fn new(
        muscle: usize,
        number: usize,
        definition: &MuscleDef,
        fibre: &Fibre,
        profiles: &Arc<Profiles>,
        bind: &[Rigid],
        bones: &[Obstacle],
    ) -> Result<Self, BuildError> {
        let no_length = || BuildError::NoLength(definition.title());
        let ends = [fibre.controls[0].frame, fibre.controls[fibre.controls.len() - 1].frame];
        let frames = ends.map(|end| bind[end]);
        let width = f64::from(definition.width) / (definition.fibres.max(1) as f64).sqrt();
        let wide_axis = wide_axis(definition, fibre, bind, bones);
        let form = SpindleForm::new(profiles.clone(), &fibre.points, frames, wide_axis, width);
        let form = Form::Spindle(form.ok_or_else(no_length)?);
        if width > 0.5 * form.length() {
            let (title, length) = (definition.title(), form.length());
            return Err(BuildError::TooWide { title, width: definition.width, length });
        }
        let still = activation::Stretch { ratio: 1.0, angle: 0.0 };
        let state = ShapeState {
            activation: activation::activation(&definition.activation, still),
            gain: f64::from(definition.gain),
            eccentricity: f64::from(definition.eccentricity),
            twist: 0.0,
        };
        let rest = form.at_bind(&fibre.points, frames, &state).ok_or_else(no_length)?;
        let bind_turn = frames[0].rotation.conjugate() * frames[1].rotation;
        Ok(Self { muscle, number, form, ends, bind_turn, rest })
    }
}

/// The wide axis of the section at bind, in the world.
fn wide_axis(definition: &MuscleDef, fibre: &Fibre, bind: &[Rigid], bones: &[Obstacle]) -> DVec3 {
    let origin = &bind[fibre.controls[0].frame];
    if let Some(given) = definition.wide_axis {
        return origin.vector(given.as_dvec3());
    }
    let [first, .., last] = &definition.origin.0[..] else {
        let middle = fibre.points[fibre.points.len() / 2];
        let along = fibre.points[fibre.points.len() - 1] - fibre.points[0];
        let nearest = bones
            .iter()
            .map(|bone| {
                let frame = &bind[bone.frame];
                let (distance, out) = bone.free_distance(frame.point_back(middle));
                (distance, frame.vector(out))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        return nearest.map_or(along.any_orthogonal_vector(), |(_, out)| along.cross(out));
    };
    origin.vector((last.at - first.at).as_dvec3())
}

fn strand(definition: &MuscleDef, fibre: Fibre, data: &FibreData, scale: f64) -> StrandSpec {
    let count = fibre.points.len();
    let share = |i: usize| i as f64 / (count - 1) as f64;
    let (tone, tendon) = (f64::from(definition.tone), f64::from(definition.tendon));
    let fibres = definition.fibres.max(1) as f64;
    let (tone, stiffness) =
        (tone / fibres, (f64::from(definition.stiffness) / fibres).max(1.2 * tone / fibres));
    let mass = MUSCLE_DENSITY * data.form.volume();
    let squares: Vec<f64> = (0..count).map(|i| data.rest.thickness(share(i)).powi(2)).collect();
    let total: f64 = squares.iter().sum();
    let links = (0..count - 1)
        .map(|k| {
            let length = fibre.points[k].distance(fibre.points[k + 1]);
            let middle = 0.5 * (share(k) + share(k + 1));
            let ends = [k, k + 1];
            if middle < tendon || middle > 1.0 - tendon {
                // Under the same tension at bind as the muscle. Stiff both ways: a tendon that goes slack and taut again
                // within a few substeps does not converge; the brachioradialis is off by 20 mm at 480 substeps a second.
                let rest = length * (1.0 - tone / stiffness);
                Distance { ends, rest, compliance: length / stiffness, resists: Resists::Both, pulled: false }
            } else {
                let compliance = (1.0 - TONE_REST) * length / tone;
                Distance { ends, rest: TONE_REST * length, compliance, resists: Resists::Both, pulled: true }
            }
        })
        .collect();
    // Masses grow with the cube of the size.
    let compliance = (VIA_STIFFNESS * scale.powi(3)).recip();
    StrandSpec {
        mass: squares.iter().map(|s| (mass * s / total).max(0.01 * mass)).collect(),
        radius: (0..count).map(|i| data.rest.contact_radius(share(i))).collect(),
        controls: fibre.controls,
        weights: fibre.weights,
        pinned: vec![0, count - 1],
        ties: fibre.via.iter().map(|&particle| Tie { particle, compliance, reach: f64::INFINITY }).collect(),
        links,
        damping: f64::from(definition.damping),
        straightens: STRAIGHTENS,
        friction: f64::from(definition.friction).max(0.0),
        avoids_obstacles: definition.collide.bones,
        avoids_strands: definition.collide.muscles,
        // Connective tissue binds the fibres of one muscle. If they push each other, those of the gluteus slip over
        // one another, by 18 mm in a frame in which nothing else moves.
        kin: (definition.fibres > 1).then_some(data.muscle),
        stout: true,
        inside_of: Vec::new(),
        position: fibre.points,
    }
}

fn pad(
    index: usize,
    fat: &FatDef,
    skeleton: &Skeleton,
    bind: &[Rigid],
) -> Result<(FatData, StrandSpec), BuildError> {
    let title = || fat.title();
    let joint = skeleton
        .find(&fat.bone)
        .ok_or_else(|| BuildError::NoSuchBone { title: title(), bone: fat.bone.clone() })?;
    if let Some(problem) = keys::FAT.problems_of(fat).into_iter().next() {
        return Err(BuildError::Value { title: title(), problem });
    }
    let axes = fat.axes.map_or(DQuat::IDENTITY, |[x, y]| {
        let x = x.as_dvec3().normalize_or(DVec3::X);
        let y = (y.as_dvec3() - y.as_dvec3().dot(x) * x)
            .try_normalize()
            .unwrap_or_else(|| x.any_orthonormal_vector());
        DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y)))
    });
    let radii = fat.radii.as_dvec3();
    let at = fat.at.as_dvec3();
    let data = FatData { pad: index, joint, at, joint_from_pad: axes, radii };
    let mass = FAT_DENSITY * 4.0 / 3.0 * PI * radii.x * radii.y * radii.z;
    let spec = StrandSpec {
        position: vec![bind[joint].point(at)],
        mass: vec![mass],
        controls: vec![Anchor { frame: joint, at }],
        weights: vec![1.0],
        ties: vec![Tie {
            particle: 0,
            compliance: 1.0 / (f64::from(fat.stiffness) * mass),
            reach: PAD_REACH * radii.min_element(),
        }],
        radius: vec![0.0],
        damping: f64::from(fat.damping),
        ..StrandSpec::default()
    };
    Ok((data, spec))
}
