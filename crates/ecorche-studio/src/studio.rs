//! What all pages of one engine share: the character, its anatomy, the bodies, the bake.

use crate::bake::{Bake, BakeProgress};
use crate::bodies::Bodies;
use crate::document::{Document, DocumentError};
use crate::drawn::Drawn;
use crate::judge::Judge;
use crate::poses::Poses;
use ecorche::cache::Cache;
use ecorche::character::Character;
use ecorche::character::textures::Textures;
use ecorche::recipe::{Ingredients, Note, Recipe};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Is notified of changes.
pub trait Listener: Send + Sync {
    /// Something changed.
    fn notify(&self);

    /// What goes on is further; nothing else changed.
    fn tick(&self);
}

/// Time between two looks at what goes on.
const TICK: Duration = Duration::from_millis(100);

/// How long the end waits for a bake to stop.
const LONGEST_END: Duration = Duration::from_secs(10);

/// Things refused since the start.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    /// Messages that are no request, too long, or binary.
    pub messages: AtomicU64,
    /// Connections with a wrong token, origin or host.
    pub visitors: AtomicU64,
}

impl Refused {
    /// Both together.
    pub fn total(&self) -> u64 {
        self.messages.load(Ordering::Relaxed) + self.visitors.load(Ordering::Relaxed)
    }
}

/// An open character.
pub struct Studio {
    /// What is deformed.
    pub character: Arc<Character>,
    /// As the page draws it.
    pub drawn: Drawn,
    /// What its materials look like.
    pub textures: Textures,
    /// Bound for the methods that are looked at.
    pub bodies: Bodies,
    /// What was refused, of whichever character.
    pub refused: Arc<Refused>,
    /// The bake, if any.
    pub bake: Bake,
    /// Where skin crosses.
    pub judge: Judge,
    /// What the user should know about how it was read.
    pub notes: Vec<String>,
    /// Where a new anatomy and its poses go until it is saved elsewhere.
    home: PathBuf,
    /// The poses of the anatomy's folder, and the number of their last change.
    poses: Mutex<(u64, Poses)>,
    document: Mutex<Document>,
    /// Folders the user chose to write to, without links.
    folders: Mutex<BTreeSet<PathBuf>>,
    listeners: Mutex<Vec<Weak<dyn Listener>>>,
}

impl Studio {
    /// Opens what was read, with its anatomy or a new one. Pages may write to `folders`, and to those of the character
    /// and the anatomy; a sample's is the first of `folders`, or the current one, and so is that of a file that is only a
    /// temporary copy.
    pub fn open_from(
        ingredients: Ingredients,
        folders: &[PathBuf],
        cache: Option<Cache>,
        refused: Arc<Refused>,
        copied: bool,
    ) -> Result<Arc<Self>, DocumentError> {
        let file = ingredients.recipe().file().and_then(Path::parent).filter(|_| !copied);
        let home = file.or(folders.first().map(PathBuf::as_path)).unwrap_or(Path::new("."));
        let document = Document::open(&ingredients, home)?;
        let character = ingredients.character.clone();
        let named = folders.iter().filter_map(|folder| folder.canonicalize().ok());
        let of_anatomy = document.path().and_then(folder_of);
        let chosen = folder_of(&home.join("any")).into_iter().chain(of_anatomy).chain(named).collect();
        let own = || Textures::plain(&character.colours);
        let textures = ingredients.recipe().file().map(Textures::read).unwrap_or_else(own);
        let notes = ingredients.notes.iter().flat_map(in_words).collect();
        let poses = Poses::read(document.folder_or(home)).unwrap_or_default();
        let home = home.to_owned();
        let bodies = Bodies::new(ingredients, cache);
        bodies.update(document.anatomy(), document.folder());
        Ok(Arc::new(Self {
            drawn: Drawn::new(&character),
            textures,
            character,
            bodies,
            refused,
            bake: Bake::default(),
            judge: Judge::default(),
            notes,
            home,
            poses: Mutex::new((1, poses)),
            document: Mutex::new(document),
            folders: Mutex::new(chosen),
            listeners: Mutex::default(),
        }))
    }

    /// The anatomy, to be read.
    pub fn document(&self) -> MutexGuard<'_, Document> {
        self.document.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the anatomy, updates the bodies and notifies the pages.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut Document) -> Result<T, DocumentError>,
    ) -> Result<T, DocumentError> {
        let result = {
            let mut document = self.document();
            let before = document.revision();
            let result = change(&mut document);
            if document.revision() != before {
                self.bodies.update(document.anatomy(), document.folder());
                self.judge.renew(document.revision());
                document.keep();
            }
            result
        };
        self.notify();
        result
    }

    /// The poses that are kept, and the number of their last change.
    pub fn poses(&self) -> (u64, Poses) {
        self.poses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The anatomy has another folder: its poses are other ones. Where they cannot be read, keeping one says why.
    pub fn read_poses(&self) {
        let folder = self.document().folder_or(&self.home).to_owned();
        let found = Poses::read(&folder).unwrap_or_default();
        let mut poses = self.poses.lock().unwrap_or_else(PoisonError::into_inner);
        if poses.1 != found {
            *poses = (poses.0 + 1, found);
        }
    }

    /// Changes the poses of the anatomy's folder and notifies the pages.
    pub fn change_poses(&self, change: impl FnOnce(&Path) -> Result<Poses, String>) -> Result<(), String> {
        let folder = self.document().folder_or(&self.home).to_owned();
        let changed = change(&folder)?;
        let mut poses = self.poses.lock().unwrap_or_else(PoisonError::into_inner);
        *poses = (poses.0 + 1, changed);
        drop(poses);
        self.notify();
        Ok(())
    }

    /// What was read.
    pub fn recipe(&self) -> Recipe {
        self.bodies.ingredients().recipe().clone()
    }

    /// Notifies `listener` of changes until it is dropped.
    pub fn subscribe(&self, listener: &Arc<dyn Listener>) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(Arc::downgrade(listener));
    }

    /// Notifies every page.
    pub fn notify(&self) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner).clone();
        listeners.iter().filter_map(Weak::upgrade).for_each(|listener| listener.notify());
    }

    /// Tells every page how far the work in the background is, until the studio is closed.
    pub fn tick_until_closed(&self) {
        let mut told = None;
        while !self.bodies.is_closed() {
            std::thread::sleep(TICK);
            let now = self.bodies.progress();
            if now != told {
                told = now;
                self.tick();
            }
        }
    }

    /// Tells every page that something in the background is further.
    pub fn tick(&self) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner).clone();
        listeners.iter().filter_map(Weak::upgrade).for_each(|listener| listener.tick());
    }

    /// What to ask before the anatomy is saved at `path`; `None` if the user has said yes already.
    pub fn doubt_saving(&self, path: &Path) -> Option<String> {
        let own = self.document().path().is_some_and(|own| own == path);
        let exists = (!own && path.exists()).then(|| path.to_owned());
        self.doubt(path, exists)
    }

    /// What to ask before a bake to `path`; `None` if it overwrites nothing in a folder the user chose.
    pub fn doubt_baking(&self, path: &Path) -> Option<String> {
        let exists = path.file_name().and_then(|name| already_there(path, &name.to_string_lossy()));
        self.doubt(path, exists)
    }

    fn doubt(&self, path: &Path, exists: Option<PathBuf>) -> Option<String> {
        // Where there is no such folder, writing says so.
        let folder = folder_of(path)?;
        let chosen = self.folders.lock().unwrap_or_else(PoisonError::into_inner).contains(&folder);
        match (exists, chosen) {
            (Some(file), _) => Some(format!("{} exists. Overwrite it?", file.display())),
            (None, false) => Some(format!(
                "{} is not the folder of the character or of the anatomy. Write to it?",
                folder.display()
            )),
            (None, true) => None,
        }
    }

    /// The user chose to write to the folder of `path`.
    pub fn choose_folder(&self, path: &Path) {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).extend(folder_of(path));
    }

    /// Ends everything that runs. A bake is cancelled and leaves nothing behind.
    pub fn close(&self) {
        self.bake.cancel();
        self.judge.close();
        self.bodies.close();
        // A bake stops after the frame it is at; one that still binds has written nothing.
        let deadline = Instant::now() + LONGEST_END;
        while self.progress().running && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// How far the bake is.
    pub fn progress(&self) -> BakeProgress {
        self.bake.progress()
    }
}

/// What the user should know about how a character was read.
fn in_words(note: &Note) -> Vec<String> {
    match note {
        Note::Repaired { repairs, .. } => repairs.iter().map(ToString::to_string).collect(),
        Note::Weighted { meshes, .. } => vec![format!("weights made by heat diffusion for {meshes} meshes")],
        Note::Joined { file, report } => {
            let mut told = vec![format!("{file}: {} joints matched", report.matches.len())];
            if !report.unmatched_joints.is_empty() {
                told.push(format!("not moved on their own: {}", report.unmatched_joints.join(", ")));
            }
            told
        }
    }
}

/// The folder of a path, without links; `None` if there is none.
fn folder_of(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).canonicalize().ok()
}

/// A file that a bake to `path` could overwrite. One cache has several files: `hero.pc2` comes with `hero.rest.obj`, and
/// with `hero.Hair.pc2` where there are several meshes.
fn already_there(path: &Path, name: &str) -> Option<PathBuf> {
    if path.exists() {
        return Some(path.to_owned());
    }
    let ending = path.extension()?.to_str()?;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let of_bake = |file: &str| {
        let rest = file.strip_prefix(stem).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| rest == "rest.obj" || rest.rsplit('.').next() == Some(ending))
    };
    let mut names = std::fs::read_dir(folder_of(path)?).ok()?.flatten().map(|entry| entry.file_name());
    let found = names.find(|file| file.to_str().is_some_and(of_bake))?;
    Some(path.with_file_name(found))
}
