//! Bodies bound for the methods that pages look at, kept up to date with the anatomy.
//!
//! Binding takes from milliseconds to seconds, so it happens in a thread of its own. Until a new body is ready the old
//! one serves. Nothing queues: when a binding is done, the next one starts from the anatomy as it is then.

use crate::message::Look;
use ecorche::anatomy::Anatomy;
use ecorche::cache::Cache;
use ecorche::character::Character;
use ecorche::deform::{Body, Method, Settings};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A body and what it was bound from.
#[derive(Clone, Debug)]
struct Bound {
    anatomy: Anatomy,
    body: Arc<Body>,
}

#[derive(Default)]
struct Desk {
    bound: BTreeMap<Look, Bound>,
    wanted: BTreeSet<Look>,
    anatomy: Anatomy,
    closed: bool,
}

/// The bodies of one character.
pub struct Bodies {
    character: Arc<Character>,
    cache: Option<Cache>,
    desk: Mutex<Desk>,
    bell: Condvar,
}

impl Look {
    /// The library's name for it.
    pub fn method(self) -> Method {
        match self {
            Self::Lbs => Method::Linear,
            Self::Dqs => Method::DualQuaternion,
            Self::Cor => Method::CentreOfRotation,
            Self::Implicit => Method::Implicit,
        }
    }

    /// Whether bodies bound from the two are the same.
    fn same(self, a: &Anatomy, b: &Anatomy) -> bool {
        match self {
            Self::Lbs | Self::Dqs | Self::Cor => true,
            Self::Implicit => a.skin == b.skin,
        }
    }

    /// How a body is bound. `coherent` only makes [`Body::deform_next`] go on from the frame before.
    pub fn settings(self, anatomy: &Anatomy, character: &Character, coherent: bool) -> Settings {
        let settings = Settings::of_skin(&anatomy.skin, &character.skeleton);
        Settings { method: self.method(), coherent, ..settings }
    }
}

impl Bodies {
    /// None bound yet.
    pub fn new(character: Arc<Character>, anatomy: Anatomy, cache: Option<Cache>) -> Self {
        let desk = Desk { anatomy, ..Desk::default() };
        Self { character, cache, desk: Mutex::new(desk), bell: Condvar::new() }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The anatomy changed.
    pub fn update(&self, anatomy: &Anatomy) {
        self.desk().anatomy = anatomy.clone();
        self.bell.notify_all();
    }

    /// The newest body there is, and whether it is up to date; one that is not is bound in the background.
    pub fn get(&self, look: Look) -> (Option<Arc<Body>>, bool) {
        let mut desk = self.desk();
        let fresh = desk.bound.get(&look).is_some_and(|b| look.same(&b.anatomy, &desk.anatomy));
        if !fresh && desk.wanted.insert(look) {
            self.bell.notify_all();
        }
        (desk.bound.get(&look).map(|b| b.body.clone()), fresh)
    }

    /// Binds for as long as the studio is open; `ready` hears of every new body.
    pub fn work(&self, ready: impl Fn()) {
        while let Some((look, anatomy)) = self.next() {
            let settings = look.settings(&anatomy, &self.character, true);
            let body = Arc::new(Body::bind(self.character.clone(), settings, self.cache.as_ref()));
            self.desk().bound.insert(look, Bound { anatomy, body });
            ready();
        }
    }

    /// What to bind next; `None` when closed.
    fn next(&self) -> Option<(Look, Anatomy)> {
        let mut desk = self.desk();
        loop {
            if desk.closed {
                return None;
            }
            // Quick ones first, in the order of the list.
            if let Some(look) = desk.wanted.pop_first() {
                let fresh = desk.bound.get(&look).is_some_and(|b| look.same(&b.anatomy, &desk.anatomy));
                if !fresh {
                    return Some((look, desk.anatomy.clone()));
                }
                continue;
            }
            desk = self.bell.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends [`Bodies::work`].
    pub fn close(&self) {
        self.desk().closed = true;
        self.bell.notify_all();
    }

    /// The user's disk cache.
    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_bound_in_the_background_and_again_when_its_anatomy_changes() {
        let character = Arc::new(ecorche::samples::build("cylinder").unwrap());
        let bodies = Bodies::new(character, Anatomy::default(), None);
        assert!(bodies.get(Look::Implicit).0.is_none());
        assert!(bodies.get(Look::Dqs).0.is_none());
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
            assert!(bodies.get(Look::Implicit).1 && bodies.get(Look::Dqs).1);
            let mut changed = Anatomy::default();
            changed.skin.gap = 0.1;
            bodies.update(&changed);
            assert!(bodies.get(Look::Dqs).1, "dual quaternions do not look at the anatomy");
            let (old, fresh) = bodies.get(Look::Implicit);
            assert!(old.is_some() && !fresh, "the old body serves until the new one is there");
            while !bodies.get(Look::Implicit).1 {
                std::thread::yield_now();
            }
            assert_eq!(bodies.get(Look::Implicit).0.unwrap().settings().robust.gap, 0.1);
            bodies.close();
        });
    }
}
