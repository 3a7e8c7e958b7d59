//! The benchmark: how long frames take, beside what the papers report and beside plain skinning of the same mesh.
//!
//! Scenes are characters made by code with as many vertices and bones as those of the papers. A table is measured
//! on demand; what two tables need is measured once.
//!
//! ```
//! use ecorche::bench::{Bench, Settings};
//!
//! let mut bench = Bench::new(Settings { quick: true, threads: vec![1] })?;
//! let table = bench.table("roussellet-4.1")?;
//! assert_eq!(table.to_json()["rows"][0]["profile"], "beta 2,2 to 4,7");
//! # Ok::<(), ecorche::bench::BenchError>(())
//! ```
//!
//! | how | |
//! |---|---|
//! | time | wall clock; of every frame the shortest of several passes, of the frames of a clip the median |
//! | a frame | from a pose to positions and normals of all vertices, in the same way for every method |
//! | history-free | every frame for itself |
//! | coherent | each frame from the one before it, at the clip's own rate |
//!
//! With `quick`, small characters and few frames are used: every table is made, but its numbers mean nothing.

mod bones;
mod bytes;
mod card;
mod crowd;
mod fields;
mod goals;
pub mod kernels;
mod machine;
mod papers;
mod play;
mod scaling;
mod scene;
mod stages;
mod table;
mod thesis;

pub use machine::Machine;
pub use table::{Cell, Column, Table};

use crate::cache::Cache;
use crate::deform::BindError;
use crate::deform::Body;
use crate::samples::SampleError;
use play::{Length, Played};
use scene::{Kind, Scene, Subject};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is measured, and with how many threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Small scenes, few frames.
    pub quick: bool,
    /// Numbers of threads; tables about something else use the largest.
    pub threads: Vec<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { quick: false, threads: vec![1, 2] }
    }
}

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// There is no such table.
    #[error("no table is called \"{name}\"; there are all, {known}")]
    UnknownTable {
        /// What was asked for.
        name: String,
        /// The tables there are.
        known: String,
    },
    /// No threads, or too many.
    #[error("{0} threads; give 1 to 1024")]
    Threads(usize),
    /// The threads cannot be started.
    #[error("threads: {0}")]
    Pool(#[from] rayon::ThreadPoolBuildError),
    /// A scene's sample cannot be made.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// A scene's clip is missing.
    #[error("sample:{sample} has no clip \"{clip}\"")]
    NoClip {
        /// The sample.
        sample: String,
        /// The clip.
        clip: String,
    },
    /// A scene has no skin.
    #[error("sample:{0} has no skin")]
    NoSkin(String),
    /// A scene's character cannot be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A field cannot be made.
    #[error("{0}")]
    Field(String),
    /// No folder for a cache.
    #[error("folder for temporary files: {0}")]
    Folder(#[from] std::io::Error),
}

type Maker = fn(&mut Bench) -> Result<Table, BenchError>;

const MAKERS: [(&str, &str, Maker); 21] = [
    ("vaillant-2", "hand, armadillo and Juna of Vaillant et al. 2012", papers::vaillant),
    ("turchet-5", "five limbs of Turchet 2013", papers::turchet),
    ("roussellet-4.1", "muscle profiles of Roussellet 2018", thesis::profiles),
    ("roussellet-4.21", "volume of muscles in a curl, Roussellet 2018", thesis::volumes),
    ("roussellet-5.2", "stiff and loose muscles, Roussellet 2018", thesis::stiffness),
    ("roussellet-6.1", "scenes of Roussellet 2018", thesis::scenes),
    ("roussellet-6.2", "arm, jump and run of Roussellet 2018", thesis::frames),
    ("roussellet-6.12", "particles per muscle, Roussellet 2018", thesis::particles),
    ("ramos-2", "crowds of Ramos and Larboulette 2013", crowd::crowds),
    ("parametric", "what parametric muscles keep, and how far they are from implicit ones", crowd::quality),
    ("card", "what crowds ask of a graphics card, on paper", card::card),
    ("fields", "fitting, tabulating and sampling a field", fields::fields),
    ("stages", "where the time of a frame goes", stages::stages),
    ("tracking", "samples per vertex, vertices left alone", stages::tracking),
    ("bytes", "memory a frame has to move, and the limit that sets", bytes::bytes),
    ("vertices", "growth with vertices", scaling::vertices),
    ("bones", "growth with bones", scaling::bone_counts),
    ("muscles", "growth with muscles", scaling::muscle_counts),
    ("threads", "growth with threads", scaling::threads),
    ("setup", "binding and memory", goals::setup),
    ("goals", "what this program is meant to reach", goals::goals),
];

/// Every table: its name and what it shows.
pub fn tables() -> impl Iterator<Item = (&'static str, &'static str)> {
    MAKERS.iter().map(|(name, summary, _)| (*name, *summary))
}

/// A running benchmark.
pub struct Bench {
    settings: Settings,
    pools: BTreeMap<usize, rayon::ThreadPool>,
    cache: Cache,
    subjects: BTreeMap<String, Arc<Subject>>,
    /// Bodies with muscles.
    muscled: BTreeMap<String, Arc<Body>>,
    played: BTreeMap<(String, Kind, usize), Played>,
    /// Holds the cache; removed with it.
    _folder: tempfile::TempDir,
}

impl Bench {
    /// Starts the threads. Nothing is measured yet.
    pub fn new(settings: Settings) -> Result<Self, BenchError> {
        let mut settings = settings;
        if settings.threads.is_empty() {
            settings.threads.push(1);
        }
        settings.threads.sort_unstable();
        settings.threads.dedup();
        let mut pools = BTreeMap::new();
        for &count in &settings.threads {
            if !(1..=1024).contains(&count) {
                return Err(BenchError::Threads(count));
            }
            pools.insert(count, rayon::ThreadPoolBuilder::new().num_threads(count).build()?);
        }
        let folder = tempfile::tempdir()?;
        let cache = Cache::new(folder.path(), crate::cache::DEFAULT_LIMIT);
        Ok(Self {
            settings,
            pools,
            cache,
            subjects: BTreeMap::new(),
            muscled: BTreeMap::new(),
            played: BTreeMap::new(),
            _folder: folder,
        })
    }

    /// Measures a table.
    pub fn table(&mut self, name: &str) -> Result<Table, BenchError> {
        let Some((_, _, make)) = MAKERS.iter().find(|(own, _, _)| *own == name) else {
            let known = tables().map(|t| t.0).collect::<Vec<_>>().join(", ");
            return Err(BenchError::UnknownTable { name: name.to_owned(), known });
        };
        make(self)
    }

    fn quick(&self) -> bool {
        self.settings.quick
    }

    /// The largest number of threads.
    fn most(&self) -> usize {
        self.settings.threads.iter().copied().max().unwrap_or(1)
    }

    /// Runs on so many threads, which must be among those of the settings.
    fn on<T: Send>(&self, threads: usize, work: impl FnOnce() -> T + Send) -> T {
        match self.pools.get(&threads) {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    fn length(&self, vertices: usize) -> Length {
        match (self.quick(), vertices) {
            (true, _) => Length { frames: 3, passes: 1 },
            (false, 0..=50_000) => Length { frames: 73, passes: 3 },
            (false, _) => Length { frames: 12, passes: 1 },
        }
    }

    /// A scene's character, bound for every method.
    fn subject(&mut self, scene: &Scene) -> Result<Arc<Subject>, BenchError> {
        let key = scene.character_key();
        if let Some(subject) = self.subjects.get(&key) {
            return Ok(subject.clone());
        }
        let subject = Arc::new(self.on(self.most(), || Subject::new(scene, self))?);
        self.subjects.insert(key, subject.clone());
        Ok(subject)
    }

    /// Lets go of a character no other table needs.
    fn forget(&mut self, scene: &Scene) {
        self.subjects.remove(&scene.character_key());
        self.muscled.remove(&scene.body_key());
    }

    /// What makes the frames of a scene.
    fn body(&mut self, scene: &Scene, kind: Kind) -> Result<Arc<Body>, BenchError> {
        let subject = self.subject(scene)?;
        if scene.muscles.is_none() || !kind.is_implicit() {
            return Ok(subject.body(kind).clone());
        }
        let key = scene.body_key();
        if let Some(body) = self.muscled.get(&key) {
            return Ok(body.clone());
        }
        let body = self.on(self.most(), || scene.bind(&subject.character, Some(&self.cache)))?;
        Ok(self.muscled.entry(key).or_insert(Arc::new(body)).clone())
    }

    /// Plays a scene, unless it was played in the same way before.
    fn play(&mut self, scene: &Scene, kind: Kind, threads: usize) -> Result<Played, BenchError> {
        let body = if kind.is_implicit() { scene.body_key() } else { scene.character_key() };
        let key = (format!("{body} {}", scene.clip), kind, threads);
        if let Some(played) = self.played.get(&key) {
            return Ok(played.clone());
        }
        let subject = self.subject(scene)?;
        let clip = scene.clip(&subject.character)?;
        let length = self.length(subject.vertices());
        let (body, coherent) = (self.body(scene, kind)?, kind == Kind::Coherent);
        let played = self.on(threads, || play::play(&body, clip, coherent, &length));
        self.played.insert(key, played.clone());
        Ok(played)
    }

    /// Adds the warning of a quick run.
    fn caution(&self, table: &mut Table) {
        if self.quick() {
            table.note("quick: small characters and few frames; the numbers mean nothing");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_volume_of_muscles_in_the_table_is_that_of_the_whole_muscle() {
        let mut bench = Bench::new(Settings { quick: true, threads: vec![2] }).unwrap();
        let table = bench.table("roussellet-4.21").unwrap();
        let change = table.columns.iter().position(|c| c.name == "ours").unwrap();
        for row in &table.rows {
            let Cell::Number(percent) = row[change] else { panic!("no number in {row:?}") };
            assert!(percent < 1.0, "a muscle's volume changes by {percent} %");
        }
    }

    #[test]
    fn unknown_tables_and_senseless_threads_are_refused_with_what_there_is() {
        let mut bench = Bench::new(Settings { quick: true, threads: vec![1] }).unwrap();
        let error = bench.table("vaillant-3").unwrap_err().to_string();
        assert!(error.contains("vaillant-2") && error.contains("goals"), "{error}");
        assert!(Bench::new(Settings { quick: true, threads: vec![0] }).is_err());
    }
}
