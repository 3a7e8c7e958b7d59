//! What lies on the desk: the open character, or none; what can be opened; the way there.
//!
//! A character is read in a thread of its own. Until it is there the one before stays in use, and it stays if the new one
//! cannot be read.

use crate::dropped::Dropped;
use crate::habits::Habits;
use crate::mailbox::Mailbox;
use crate::message::{Kind, OpenOrder, encode};
use crate::recent::{Recent, RecentFile};
use crate::start_binding;
use crate::studio::{Refused, Studio};
use crate::wire::wire;
use axum::body::Bytes;
use ecorche::cache::Cache;
use ecorche::recipe::{AnatomySource, Ingredients, MotionSource, Recipe};
use ecorche::samples;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::watch;

wire! {
    /// A sample that can be opened.
    #[derive(Serialize)]
    pub struct SampleCard {
        name: &'static str,
        summary: &'static str,
    }
}

wire! {
    /// What is open or being opened, and what could be.
    #[derive(Serialize)]
    pub struct DeskHead {
        /// The number of the character; none on the start page.
        open: Option<u64>,
        /// The name of what is being read.
        opening: Option<String>,
        /// Why the last could not be opened.
        problem: Option<String>,
        samples: Vec<SampleCard>,
        recent: Vec<RecentFile>,
        /// What the user is used to.
        habits: serde_json::Value,
    }
}

/// The character that is open.
#[derive(Clone, Default)]
pub struct Here {
    /// Grows with every character.
    pub number: u64,
    /// None on the start page.
    pub studio: Option<Arc<Studio>>,
}

#[derive(Default)]
struct State {
    here: Here,
    /// What is being read, and the number of that attempt.
    opening: Option<(String, u64)>,
    attempts: u64,
    /// Why the last attempt failed.
    problem: Option<String>,
}

/// What all pages of an engine share, whichever character is open.
pub struct Desk {
    state: Mutex<State>,
    recent: Recent,
    habits: Habits,
    pub dropped: Dropped,
    folders: Vec<PathBuf>,
    cache: Option<Cache>,
    pub refused: Arc<Refused>,
    pages: Mutex<Vec<Weak<Mailbox>>>,
    changes: watch::Sender<u64>,
}

impl Desk {
    /// Nothing is open yet. Pages may write to `folders`; what was refused is counted in `refused`.
    pub fn new(folders: Vec<PathBuf>, cache: Option<Cache>, refused: Arc<Refused>) -> Arc<Self> {
        let beside = |name: &str| cache.as_ref().map(|cache| cache.folder().join(name));
        let (recent, habits) = (Recent::read(beside("recent.json")), Habits::read(beside("studio.json")));
        Arc::new(Self {
            state: Mutex::default(),
            recent,
            habits,
            dropped: Dropped::default(),
            folders,
            cache,
            refused,
            pages: Mutex::default(),
            changes: watch::Sender::new(0),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The character that is open.
    pub fn here(&self) -> Here {
        self.state().here.clone()
    }

    /// Results that take long are kept there.
    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    /// Tells when [`Desk::describe`] has something new to say.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn changed(&self) {
        self.changes.send_modify(|step| *step += 1);
    }

    /// A page that is told when another character is opened.
    pub fn register(&self, page: &Arc<Mailbox>) {
        let state = self.state();
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|page| page.strong_count() > 0);
        pages.push(Arc::downgrade(page));
        page.mail().character = state.here.number;
    }

    /// Puts a studio on the desk in place of the one before, which is closed.
    pub fn put(&self, studio: Arc<Studio>) {
        start_binding(&studio);
        let before = {
            let mut state = self.state();
            let number = state.here.number + 1;
            let before = std::mem::replace(&mut state.here, Here { number, studio: Some(studio) });
            let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
            pages.iter().filter_map(Weak::upgrade).for_each(|page| page.move_to(number));
            before
        };
        self.changed();
        if let Some(studio) = before.studio {
            studio.close();
        }
    }

    /// Opens what was read: a character named on the command line.
    pub fn place(&self, ingredients: Ingredients) -> Result<(), crate::DocumentError> {
        self.recent.add(ingredients.recipe());
        let cache = self.cache.clone();
        let studio = Studio::open_from(ingredients, &self.folders, cache, self.refused.clone(), false)?;
        self.put(studio);
        Ok(())
    }

    /// Reads a character in the background and puts it on the desk. An attempt that is under way is given up.
    pub fn open(self: &Arc<Self>, order: OpenOrder) {
        let (recipe, copied) = match self.recipe(&order) {
            Ok(found) => found,
            Err(problem) => {
                self.state().problem = Some(problem);
                self.changed();
                return;
            }
        };
        let attempt = {
            let mut state = self.state();
            state.attempts += 1;
            state.problem = None;
            let name =
                recipe.file().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
            state.opening = Some((name.unwrap_or_else(|| recipe.character.clone()), state.attempts));
            state.attempts
        };
        self.changed();
        let desk = self.clone();
        std::thread::spawn(move || {
            let read = recipe.read().map_err(|error| error.to_string());
            let opened = read.and_then(|ingredients| {
                let (cache, refused) = (desk.cache.clone(), desk.refused.clone());
                Studio::open_from(ingredients, &desk.folders, cache, refused, copied)
                    .map_err(|error| error.to_string())
            });
            {
                let mut state = desk.state();
                if state.opening.as_ref().is_none_or(|(_, number)| *number != attempt) {
                    // Given up meanwhile.
                    return;
                }
                state.opening = None;
            }
            match opened {
                Ok(studio) => {
                    if !copied {
                        desk.recent.add(&recipe);
                    }
                    desk.put(studio);
                }
                Err(problem) => desk.state().problem = Some(problem),
            }
            desk.changed();
        });
    }

    /// What an order names as a recipe, and whether its files are temporary copies.
    fn recipe(&self, order: &OpenOrder) -> Result<(Recipe, bool), String> {
        let path = |name: &String| match &order.batch {
            Some(batch) => self.dropped.path(batch, name),
            None => Ok(PathBuf::from(name)),
        };
        let text = |path: PathBuf| path.display().to_string();
        let sample = |name: &str| name.starts_with("sample:");
        let mut recipe = match (&order.character, self.here().studio) {
            (Some(name), _) if sample(name) => Recipe::of(name.clone()),
            (Some(name), _) => Recipe::of(text(path(name)?)),
            // A motion alone is for the character that is open.
            (None, Some(studio)) => studio.recipe(),
            (None, None) => return Err("open a character first; a motion alone moves nothing".to_owned()),
        };
        if let Some(motion) = &order.motion {
            let file = if sample(motion) { motion.clone() } else { text(path(motion)?) };
            recipe.motion = MotionSource::File(file);
        }
        match (&order.anatomy, &order.batch) {
            (Some(name), Some(_)) => {
                let file = path(name)?;
                let text = std::fs::read_to_string(&file).map_err(|error| format!("{name}: {error}"))?;
                // What is saved later does not go to the copy.
                recipe.anatomy = AnatomySource::Text { text, folder: PathBuf::from(".") };
            }
            (Some(name), None) => recipe.anatomy = AnatomySource::File(PathBuf::from(name)),
            (None, _) => {}
        }
        let copied = order.batch.is_some() && (order.character.is_some() || order.anatomy.is_some());
        let copied = copied || self.dropped.owns(recipe.file());
        Ok((recipe, copied))
    }

    /// Keeps what the user is used to, for the next run.
    pub fn keep_habits(&self, habits: serde_json::Value) {
        self.habits.keep(habits);
        self.changed();
    }

    /// Gives up what is being read.
    pub fn give_up(&self) {
        self.state().opening = None;
        self.changed();
    }

    /// For pages: what is open or being opened, and what could be.
    pub fn describe(&self) -> Bytes {
        let samples = samples::list()
            .iter()
            .map(|&samples::SampleInfo { name, summary, .. }| SampleCard { name, summary })
            .collect();
        let state = self.state();
        let head = DeskHead {
            open: state.here.studio.as_ref().map(|_| state.here.number),
            opening: state.opening.as_ref().map(|(name, _)| name.clone()),
            problem: state.problem.clone(),
            samples,
            recent: self.recent.list(),
            habits: self.habits.get(),
        };
        drop(state);
        encode(Kind::Desk, &head, &[])
    }

    /// Ends everything that runs, and removes what was copied.
    pub fn close(&self) {
        let studio = self.here().studio;
        if let Some(studio) = studio {
            studio.close();
        }
        self.dropped.clear();
    }
}
