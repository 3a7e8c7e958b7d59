//! What a page asks for, until its engine reads it: the newest view, and orders in turn.

use crate::message::{Request, View};
use crate::studio::Listener;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What waits, and how far the page is.
#[derive(Default)]
pub struct Mail {
    pub view: Option<Box<View>>,
    pub orders: Vec<Request>,
    /// The last frame sent, and the last that is on the screen.
    pub sent: u64,
    pub drawn: u64,
    pub notified: bool,
    /// Something goes on; what is shown did not change.
    pub ticked: bool,
    pub closed: bool,
    /// The character the page is served, by its number on the desk.
    pub character: u64,
    /// Another was opened since; nothing is read for the one before.
    pub moved: bool,
    /// Whether what the page says is about the one before, until it has the new one.
    pub behind: bool,
    /// When the view came.
    pub arrived: Option<Instant>,
    /// How long the last message took from the engine into the socket.
    pub handing: Duration,
}

/// Requests of the page that the engine has not read yet.
#[derive(Default)]
pub struct Mailbox {
    mail: Mutex<Mail>,
    pub changed: Condvar,
}

/// Most orders (edits, saves) that wait; more are refused.
const MOST_ORDERS: usize = 256;

impl Mailbox {
    pub fn mail(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts a request; false if it is refused.
    pub fn post(&self, request: Request) -> bool {
        let mut mail = self.mail();
        if mail.behind && !matches!(request, Request::Ready { .. }) {
            return true;
        }
        match request {
            Request::Ready { character } => mail.behind &= character != mail.character,
            Request::View(mut view) => {
                // A seek that was not seen yet is not lost to a newer view without one.
                let seek = mail.view.as_ref().and_then(|old| old.at);
                view.at = view.at.or(seek);
                mail.view = Some(view);
                mail.arrived = Some(Instant::now());
            }
            Request::Drawn { frame } if frame <= mail.sent => mail.drawn = mail.drawn.max(frame),
            // A frame that was never sent cannot be on the screen.
            Request::Drawn { .. } => return false,
            // Of a drag only the newest place counts.
            Request::Edit { edits, drag: Some(drag) } if matches!(mail.orders.last(), Some(Request::Edit { drag: Some(d), .. }) if *d == drag) =>
            {
                mail.orders.pop();
                mail.orders.push(Request::Edit { edits, drag: Some(drag) });
            }
            order if mail.orders.len() < MOST_ORDERS => mail.orders.push(order),
            _ => return false,
        }
        self.changed.notify_all();
        true
    }

    /// A frame is about to be sent; from now on it can be on the screen.
    pub fn sending(&self, frame: u64) {
        self.mail().sent = frame;
    }

    /// A message is in the socket.
    pub fn handed(&self, took: Duration) {
        self.mail().handing = took;
    }

    /// Another character is on the desk: what waits is about the one before.
    pub fn move_to(&self, character: u64) {
        let mut mail = self.mail();
        *mail = Mail { closed: mail.closed, character, moved: true, behind: true, ..Mail::default() };
        self.changed.notify_all();
    }

    /// Serves the character of that number from now on, if it is still the one on the desk.
    pub fn begin(&self, character: u64) {
        let mut mail = self.mail();
        if mail.character == character {
            mail.moved = false;
        }
    }

    /// Sleeps until a character is opened; false if the page is gone before.
    pub fn wait_for_character(&self) -> bool {
        let mut mail = self.mail();
        while !mail.closed && !mail.moved {
            // Nothing can be done without a character.
            mail.orders.clear();
            mail = self.changed.wait(mail).unwrap_or_else(PoisonError::into_inner);
        }
        !mail.closed
    }

    /// The page is gone.
    pub fn close(&self) {
        self.mail().closed = true;
        self.changed.notify_all();
    }
}

impl Listener for Mailbox {
    fn notify(&self) {
        self.mail().notified = true;
        self.changed.notify_all();
    }

    fn tick(&self) {
        self.mail().ticked = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_wait_up_to_the_limit_whatever_drags_they_belong_to() {
        let mailbox = Mailbox::default();
        let edit = |drag: u64| Request::Edit { edits: Vec::new(), drag: Some(drag) };
        assert!((0..1000).all(|_| mailbox.post(edit(7))), "a drag replaces itself");
        assert_eq!(mailbox.mail().orders.len(), 1);
        let refused = (0..1000).filter(|k| !mailbox.post(edit(k % 2))).count();
        assert!(refused > 0);
        assert_eq!(mailbox.mail().orders.len(), MOST_ORDERS);
    }

    #[test]
    fn a_frame_that_was_never_sent_is_not_on_the_screen() {
        let mailbox = Mailbox::default();
        mailbox.sending(3);
        assert!(mailbox.post(Request::Drawn { frame: 3 }));
        assert!(!mailbox.post(Request::Drawn { frame: u64::MAX }));
        assert_eq!(mailbox.mail().drawn, 3);
    }
}
