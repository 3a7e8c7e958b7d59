//! What all pages of one engine share: the character, its anatomy, the bodies, the bake.

use crate::bake::{Bake, Progress};
use crate::bodies::Bodies;
use crate::document::{Document, DocumentError};
use crate::drawn::Drawn;
use ecorche::cache::Cache;
use ecorche::character::Character;
use ecorche::character::textures::Textures;
use ecorche::recipe::Ingredients;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Whoever wants to hear that something changed.
pub trait Bell: Send + Sync {
    /// Something changed.
    fn ring(&self);
}

/// Things refused since the start.
#[derive(Debug, Default)]
pub struct Refused {
    /// Texts that are no request, or too long, or not texts.
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
    /// What was refused.
    pub refused: Refused,
    /// The bake, if any.
    pub bake: Bake,
    document: Mutex<Document>,
    bells: Mutex<Vec<Weak<dyn Bell>>>,
}

impl Studio {
    /// Opens what was read, with its anatomy or a new one.
    pub fn open(ingredients: Ingredients, cache: Option<Cache>) -> Result<Arc<Self>, DocumentError> {
        let document = Document::open(&ingredients)?;
        let character = ingredients.character.clone();
        let textures = ingredients.recipe().file().map(Textures::read).unwrap_or_default();
        let bodies = Bodies::new(ingredients, cache);
        bodies.update(document.anatomy(), document.folder());
        Ok(Arc::new(Self {
            drawn: Drawn::new(&character),
            textures,
            character,
            bodies,
            refused: Refused::default(),
            bake: Bake::default(),
            document: Mutex::new(document),
            bells: Mutex::default(),
        }))
    }

    /// The anatomy, to be read.
    pub fn document(&self) -> MutexGuard<'_, Document> {
        self.document.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the anatomy; bodies and pages hear of it.
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
            }
            result
        };
        self.ring();
        result
    }

    /// Who wants to hear of changes; forgotten when dropped.
    pub fn subscribe(&self, bell: &Arc<dyn Bell>) {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.retain(|bell| bell.strong_count() > 0);
        bells.push(Arc::downgrade(bell));
    }

    /// Tells every page.
    pub fn ring(&self) {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner).clone();
        bells.iter().filter_map(Weak::upgrade).for_each(|bell| bell.ring());
    }

    /// How far the bake is.
    pub fn progress(&self) -> Progress {
        self.bake.progress()
    }
}
