//! Bodies bound for the methods that pages look at, kept up to date with the anatomy.
//!
//! Binding takes from milliseconds to seconds, so it happens in a thread of its own. Until a new body is ready the old
//! one serves. Nothing queues: when a binding is done, the next one starts from the anatomy as it is then.

use crate::message::Look;
use ecorche::anatomy::Anatomy;
use ecorche::cache::Cache;
use ecorche::deform::{Body, Settings, Stack};
use ecorche::recipe::{Ingredients, RecipeError};
use ecorche::watch::{Progress, Watch};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bindings that take longer are stopped when the anatomy changes; quicker ones show what is dragged.
const LIVE: Duration = Duration::from_secs(1);

/// A body and what it was bound from.
#[derive(Clone, Debug)]
struct Bound {
    anatomy: Anatomy,
    /// The newest that could be bound; of an earlier anatomy if this one was refused, `None` if all were.
    body: Option<Arc<Body>>,
    problem: Option<String>,
}

/// The state of a look's body.
#[derive(Clone, Debug, Default)]
pub struct Ready {
    /// The newest body.
    pub body: Option<Arc<Body>>,
    /// Whether it is up to date; one that is not is being bound.
    pub fresh: bool,
    /// Why the anatomy could not be bound.
    pub problem: Option<String>,
}

#[derive(Default)]
struct Shared {
    bound: BTreeMap<Look, Bound>,
    wanted: BTreeSet<Look>,
    anatomy: Anatomy,
    /// What the anatomy's files are relative to.
    folder: PathBuf,
    closed: bool,
    /// What is being bound, from which anatomy.
    running: Option<(Look, Anatomy, Arc<Watch>)>,
    /// How long the last binding of each look took.
    took: BTreeMap<Look, Duration>,
}

/// The bodies of one character.
pub struct Bodies {
    /// The character; the anatomy is in `shared`.
    ingredients: Ingredients,
    cache: Option<Cache>,
    shared: Mutex<Shared>,
    changed: Condvar,
}

impl Look {
    /// What the library calls it.
    pub fn stack(self) -> Stack {
        match self {
            Self::Lbs => Stack::linear(),
            Self::Dqs => Stack::dual_quaternion(),
            Self::Cor => Stack::centre_of_rotation(),
            Self::Parametric => Stack::parametric(),
            Self::Implicit => Stack::implicit(),
            Self::Muscles => Stack::muscles(),
        }
    }

    /// Whether bodies bound from the two are the same.
    fn same(self, a: &Anatomy, b: &Anatomy) -> bool {
        if a.wrinkles != b.wrinkles {
            return false;
        }
        match self {
            Self::Lbs | Self::Dqs | Self::Cor => true,
            Self::Implicit => a.skin == b.skin,
            // Keys are looked up while playing, in the body's own copy.
            Self::Muscles => a == b,
            Self::Parametric => a.body == b.body,
        }
    }
}

impl Bodies {
    /// None bound yet.
    pub fn new(ingredients: Ingredients, cache: Option<Cache>) -> Self {
        let (anatomy, folder) = (ingredients.anatomy.clone(), ingredients.folder.clone());
        let shared = Shared { anatomy, folder, ..Shared::default() };
        Self { ingredients, cache, shared: Mutex::new(shared), changed: Condvar::new() }
    }

    /// Binds the character with an anatomy whose files are relative to `folder`. `coherent`: frames that follow each
    /// other start from the one before, which is faster.
    pub fn bind(
        &self,
        look: Look,
        anatomy: Anatomy,
        folder: PathBuf,
        coherent: bool,
        watch: &Watch,
    ) -> Result<Body, RecipeError> {
        let ingredients = self.ingredients.clone().with_anatomy(anatomy, folder);
        let settings = Settings { coherent, ..ingredients.settings(Some(look.stack())) };
        ingredients.bind_watched(settings, self.cache.as_ref(), watch)
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The anatomy changed.
    pub fn update(&self, anatomy: &Anatomy, folder: &Path) {
        let mut shared = self.shared();
        shared.anatomy = anatomy.clone();
        shared.folder = folder.to_owned();
        // The skin follows a drag where binding is quick; where it is slow nobody waits for what is out of date.
        let Shared { running, took, anatomy, .. } = &*shared;
        let slow = |look: &Look| took.get(look).is_none_or(|took| *took > LIVE);
        if let Some((look, _, watch)) =
            running.as_ref().filter(|(of, from, _)| !of.same(from, anatomy) && slow(of))
        {
            watch.stop();
            let look = *look;
            shared.wanted.insert(look);
        }
        drop(shared);
        self.changed.notify_all();
    }

    /// The body for `look`; one that is not up to date is bound in the background.
    pub fn get(&self, look: Look) -> Ready {
        let mut shared = self.shared();
        let bound = shared.bound.get(&look);
        let fresh = bound.is_some_and(|b| look.same(&b.anatomy, &shared.anatomy));
        let (body, problem) = bound.map_or((None, None), |b| (b.body.clone(), b.problem.clone()));
        let running = shared.running.as_ref().is_some_and(|(of, from, watch)| {
            *of == look && look.same(from, &shared.anatomy) && !watch.is_stopped()
        });
        if !fresh && !running && shared.wanted.insert(look) {
            // A quick one first. Whoever still looks at the slow one asks for it again.
            if let Some((_, _, watch)) = shared.running.as_ref().filter(|(of, ..)| look < *of) {
                watch.stop();
            }
            self.changed.notify_all();
        }
        Ready { body, fresh, problem }
    }

    /// What is being bound, and how far that is.
    pub fn progress(&self) -> Option<(Look, Progress)> {
        self.shared().running.as_ref().map(|(look, _, watch)| (*look, watch.progress()))
    }

    /// Binds bodies until the studio is closed; calls `ready` after each.
    pub fn work(&self, ready: impl Fn()) {
        while let Some((look, anatomy, folder)) = self.next() {
            let watch = Arc::new(Watch::default());
            self.shared().running = Some((look, anatomy.clone(), watch.clone()));
            let started = Instant::now();
            let result = self.bind(look, anatomy.clone(), folder, true, &watch);
            let mut shared = self.shared();
            shared.running = None;
            if watch.is_stopped() {
                drop(shared);
                ready();
                continue;
            }
            shared.took.insert(look, started.elapsed());
            let (body, problem) = match result {
                Ok(body) => (Some(Arc::new(body)), None),
                Err(error) => (shared.bound.get(&look).and_then(|b| b.body.clone()), Some(error.to_string())),
            };
            shared.bound.insert(look, Bound { anatomy, body, problem });
            drop(shared);
            ready();
        }
    }

    /// Waits for the next body to bind; `None` when closed.
    fn next(&self) -> Option<(Look, Anatomy, PathBuf)> {
        let mut shared = self.shared();
        loop {
            if shared.closed {
                return None;
            }
            // Quick ones first, in the order of the list.
            if let Some(look) = shared.wanted.pop_first() {
                let fresh = shared.bound.get(&look).is_some_and(|b| look.same(&b.anatomy, &shared.anatomy));
                if !fresh {
                    return Some((look, shared.anatomy.clone(), shared.folder.clone()));
                }
                continue;
            }
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends [`Bodies::work`].
    pub fn close(&self) {
        let mut shared = self.shared();
        shared.closed = true;
        shared.running.iter().for_each(|(_, _, watch)| watch.stop());
        drop(shared);
        self.changed.notify_all();
    }

    /// Whether the studio was closed.
    pub fn is_closed(&self) -> bool {
        self.shared().closed
    }

    /// What is bound.
    pub fn ingredients(&self) -> &Ingredients {
        &self.ingredients
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_binding_gives_way_to_a_quick_one_and_to_a_newer_anatomy() {
        let ingredients = ecorche::recipe::Recipe::of("sample:athlete?resolution=5000").read().unwrap();
        let bodies = Bodies::new(ingredients, None);
        std::thread::scope(|scope| {
            scope.spawn(|| bodies.work(|| ()));
            let running = |wanted: Look| {
                while bodies.progress().is_none_or(|(look, _)| look != wanted) {
                    std::thread::yield_now();
                }
            };
            bodies.get(Look::Muscles);
            running(Look::Muscles);
            while !bodies.get(Look::Dqs).fresh {
                std::thread::yield_now();
            }
            bodies.get(Look::Implicit);
            running(Look::Implicit);
            let mut changed = Anatomy::default();
            changed.skin.gap = 0.1;
            bodies.update(&changed, Path::new(""));
            while !bodies.get(Look::Implicit).fresh {
                std::thread::yield_now();
            }
            assert_eq!(bodies.get(Look::Implicit).body.unwrap().settings().robust.gap, 0.1);
            bodies.close();
        });
    }

    #[test]
    fn a_body_is_bound_in_the_background_and_again_when_its_anatomy_changes() {
        let ingredients = ecorche::recipe::Recipe::of("sample:cylinder").read().unwrap();
        let bodies = Bodies::new(ingredients, None);
        assert!(bodies.get(Look::Implicit).body.is_none());
        assert!(bodies.get(Look::Dqs).body.is_none());
        let counted = std::sync::atomic::AtomicUsize::new(0);
        let bound = || counted.load(std::sync::atomic::Ordering::SeqCst);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                bodies.work(|| {
                    counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                });
            });
            while bound() < 2 {
                std::thread::yield_now();
            }
            assert!(bodies.get(Look::Implicit).fresh && bodies.get(Look::Dqs).fresh);
            let mut changed = Anatomy::default();
            changed.skin.gap = 0.1;
            bodies.update(&changed, Path::new(""));
            assert!(bodies.get(Look::Dqs).fresh, "dual quaternions do not look at the anatomy");
            let old = bodies.get(Look::Implicit);
            assert!(old.body.is_some() && !old.fresh, "the old body serves until the new one is there");
            while !bodies.get(Look::Implicit).fresh {
                std::thread::yield_now();
            }
            assert_eq!(bodies.get(Look::Implicit).body.unwrap().settings().robust.gap, 0.1);
            bodies.close();
        });
    }
}
