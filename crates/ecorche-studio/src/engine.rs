//! The engine of one page: turns the view that the page asks for into frames.
//!
//! A mailbox holds the newest view; older ones are dropped. The engine is at most one frame ahead of what the page has
//! drawn: a page that is slow, hidden or gone gets fewer frames, never late ones.

use crate::character::describe;
use crate::clock::{Clock, Reel};
use crate::drawn::Cube;
use crate::flesh::Strands;
use crate::inside::{Interior, Moment, graph};
use crate::judge::JudgeOrder;
use crate::mailbox::Mailbox;
use crate::message::{Array, BakeOrder, Kind, Look, Request, View, encode};
use crate::poses::Poses;
use crate::studio::Studio;
use crate::wire::wire;
use axum::body::Bytes;
use ecorche::character::Pose;
use ecorche::deform::{Body, State, Workspace};
use ecorche::frame::Frame;
use ecorche::inspect::{Inspector, Quantity, QuantityError};
use ecorche::muscle::{Flesh, Musculature};
use ecorche::output::ColourMap;
use ecorche::pieces::Pieces;
use ecorche::surface::{LayerDef, smooth};
use ecorche::watch::Progress;
use glam::Quat;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Frames that may be on their way to the screen.
const AHEAD: u64 = 2;

/// Shortest time between two frames while playing: no screen shows more than 120 a second.
const SHORTEST: Duration = Duration::from_micros(8_000);

/// Most seconds of a clip from one frame to the next while playing. Where frames take longer the clip slows down instead:
/// muscles take longer the further they move, and start from rest after half a second, which takes longest.
const LONGEST_STEP: f64 = 0.1;

/// What the engine found in its mailbox.
struct News {
    view: Option<Box<View>>,
    orders: Vec<Request>,
    room: bool,
    arrived: Option<Instant>,
}

wire! {
    /// The table of colours that a quantity is shown by; the character has both.
    #[derive(Clone, Copy, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ColourTable {
        Sequential,
        Diverging,
    }
}

wire! {
    /// What a frame says about one look.
    #[derive(Serialize)]
    pub struct LookHead {
        look: Look,
        /// Differs from `look` while that is being bound.
        shown: Look,
        /// Whether an anatomy newer than this body's is being bound.
        binding: bool,
        milliseconds: f64,
        fell_back: usize,
        contacts: usize,
        /// Why the anatomy could not be bound; the body before is shown then.
        problem: Option<String>,
    }
}

wire! {
    #[derive(Serialize)]
    pub struct QuantityHead {
        name: String,
        unit: &'static str,
        range: [f32; 2],
        map: ColourTable,
    }
}

wire! {
    #[derive(Serialize)]
    pub struct FrameHead {
        frame: u64,
        /// The view it shows.
        view: u64,
        at: f64,
        last: usize,
        fps: f32,
        playing: bool,
        revision: u64,
        looks: Vec<LookHead>,
        quantity: Option<QuantityHead>,
        /// The path of the traced vertex: what moved it, and where to.
        path: Vec<(&'static str, [f32; 3])>,
        /// The cubes of rounded places, one per look; empty where the places are exact.
        cubes: Vec<Cube>,
        /// The cube of rounded strands; none where they are exact.
        strand_cube: Option<Cube>,
        /// Why muscles and fat cannot be shown.
        flesh: Option<String>,
        /// Milliseconds this frame took to be put into numbers, and the one before to be put into bytes.
        encoding: f64,
        /// Milliseconds the message before this one took from the engine into the socket.
        handing: f64,
        /// Milliseconds from the view's arrival to here; none for a frame nobody asked for.
        answering: Option<f64>,
        /// Milliseconds since 1970, to measure the transfer.
        sent: f64,
        refused: u64,
    }
}

wire! {
    /// How a notice is meant.
    #[derive(Clone, Copy, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Level {
        Error,
        Done,
        Hint,
        Question,
    }
}

wire! {
    /// Something to say.
    #[derive(Serialize)]
    pub struct Notice {
        level: Level,
        text: String,
        /// Of a question: the request that a yes sends, and the one that a no sends.
        #[serde(skip_serializing_if = "Option::is_none")]
        yes: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        no: Option<Value>,
    }
}

wire! {
    /// What is being bound.
    #[derive(Serialize)]
    pub struct Busy {
        look: Look,
        /// What of it.
        stage: &'static str,
        /// How many of the stage's things are done.
        done: usize,
        /// Of how many; 0 where they are not counted.
        of: usize,
    }
}

/// A body in use with what it carries from frame to frame.
struct Running {
    /// As it was bound.
    bound: Arc<Body>,
    /// The same with what lies on its surface.
    body: Body,
    smooth: Option<smooth::Settings>,
    state: State,
    /// The clip whose keys the state follows.
    clip: Option<String>,
}

/// A skin as it is sent; kept so that a frame allocates little.
#[derive(Default)]
struct Numbers {
    exact: Vec<f32>,
    rounded: Vec<u16>,
    normals: Vec<i16>,
}

/// The engine of one page.
pub struct Engine<'a, S> {
    studio: &'a Arc<Studio>,
    mailbox: Arc<Mailbox>,
    send: S,
    view: Option<Box<View>>,
    clock: Clock,
    /// Whether another moment was asked for than the next one: muscles are then at rest.
    sought: bool,
    running: BTreeMap<Look, Running>,
    workspace: Workspace,
    interior: Interior,
    /// Of the quantity shown last; what frames share is prepared once.
    inspector: Option<(String, Inspector<'a>)>,
    numbers: [Numbers; 2],
    /// Muscles while time runs; kept likewise.
    rounded_strands: Vec<u16>,
    /// Milliseconds the last frame took to be put into bytes.
    packing: f64,
    /// Where the clock was in the last frame, if time ran: frames, also beyond the clip's end.
    shown: Option<f64>,
    /// Whether the clip called that is a cycle.
    cycle: Option<(Option<String>, bool)>,
    arrived: Option<Instant>,
    frame: u64,
    last_frame: Option<Instant>,
    told_revision: u64,
    /// Whether the page was asked about edits of an earlier run.
    told_lost: bool,
    told_bake: u64,
    told_pieces: Option<Arc<Pieces>>,
    told_busy: Option<(Look, Progress)>,
    told_verdict: u64,
    told_poses: u64,
    stale: bool,
}

impl<'a, S: FnMut(Bytes) -> bool> Engine<'a, S> {
    /// An engine that sends its messages through `send`, which returns false when the page is gone.
    pub fn new(studio: &'a Arc<Studio>, mailbox: Arc<Mailbox>, send: S) -> Self {
        let told_bake = studio.progress().step;
        Self {
            studio,
            mailbox,
            send,
            view: None,
            clock: Clock::new(Instant::now()),
            sought: true,
            running: BTreeMap::new(),
            workspace: Workspace::default(),
            interior: Interior::default(),
            inspector: None,
            numbers: Default::default(),
            rounded_strands: Vec::new(),
            packing: 0.0,
            shown: None,
            cycle: None,
            arrived: None,
            frame: 0,
            last_frame: None,
            told_revision: 0,
            told_lost: false,
            told_bake,
            told_pieces: None,
            told_busy: None,
            told_verdict: 0,
            told_poses: 0,
            stale: false,
        }
    }

    /// Serves the page until it is gone or another character is opened; false if it is gone. `number` is the character's
    /// on the desk.
    pub fn run(mut self, number: u64) -> bool {
        let mut listening = (self.send)(describe(self.studio, number));
        while listening && let Some(news) = self.wait() {
            listening = self.turn(news);
        }
        listening && !self.mailbox.mail().closed
    }

    fn playing(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.playing && view.clip.is_some())
    }

    /// Sleeps until there is something to do; `None` when the page is gone or another character is opened.
    fn wait(&mut self) -> Option<News> {
        let mailbox = self.mailbox.clone();
        let mut mail = mailbox.mail();
        loop {
            if mail.closed || mail.moved {
                return None;
            }
            self.stale |= std::mem::take(&mut mail.notified) || mail.view.is_some();
            let room = self.frame < mail.drawn + AHEAD;
            let due = self.playing().then(|| self.last_frame.map(|at| at + SHORTEST)).flatten();
            let now = Instant::now();
            let moving = self.playing() && due.is_none_or(|due| due <= now);
            let drawing = room && (moving || self.stale);
            let ticked = std::mem::take(&mut mail.ticked);
            if ticked || drawing || !mail.orders.is_empty() || mail.view.is_some() {
                // What goes on behind the picture needs no new one.
                let room = drawing || (room && (!mail.orders.is_empty() || mail.view.is_some()));
                let (view, orders) = (mail.view.take(), std::mem::take(&mut mail.orders));
                return Some(News { view, orders, room, arrived: mail.arrived.take() });
            }
            mail = match due.filter(|_| room) {
                Some(due) => {
                    let rest = due.saturating_duration_since(now);
                    mailbox.changed.wait_timeout(mail, rest).unwrap_or_else(PoisonError::into_inner).0
                }
                None => mailbox.changed.wait(mail).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Carries out what came in, then draws; false when the page is gone.
    fn turn(&mut self, news: News) -> bool {
        self.arrived = news.arrived.or(self.arrived);
        for order in news.orders {
            if !self.carry_out(order) {
                return false;
            }
        }
        if let Some(view) = news.view
            && let Err(problem) = self.look(view)
        {
            self.studio.refused.messages.fetch_add(1, Ordering::Relaxed);
            if !self.tell(Level::Error, &problem) {
                return false;
            }
        }
        if !self.tell_changes() {
            return false;
        }
        !news.room || self.view.is_none() || self.draw()
    }

    fn tell(&mut self, level: Level, text: &str) -> bool {
        (self.send)(notice(level, text))
    }

    /// Sends document and bake if they changed since they were last sent.
    fn tell_changes(&mut self) -> bool {
        let revision = self.studio.document().revision();
        if revision != self.told_revision {
            self.told_revision = revision;
            self.stale = true;
            let (description, lost) = {
                let document = self.studio.document();
                (document.describe(), document.has_lost_edits())
            };
            // At the start, and when a file is loaded beside which an earlier run left some.
            let ask_now = lost && !self.told_lost;
            self.told_lost = lost;
            if !(self.send)(encode(Kind::Document, &description, &[])) {
                return false;
            }
            let question = "Edits that were not saved when the studio last ended were found. Take them up?";
            if ask_now && !(self.send)(ask(question, json!("recover"), Some(json!("give_up")))) {
                return false;
            }
        }
        let busy = self.studio.bodies.progress();
        if busy != self.told_busy {
            self.told_busy = busy;
            let head = busy.map(|(look, Progress { stage, done, of })| Busy { look, stage, done, of });
            if !(self.send)(encode(Kind::Busy, &head, &[])) {
                return false;
            }
        }
        let step = self.studio.judge.step();
        if step != self.told_verdict {
            self.told_verdict = step;
            if !(self.send)(encode(Kind::Verdict, &self.studio.judge.verdict(), &[])) {
                return false;
            }
        }
        let (step, poses) = self.studio.poses();
        if step != self.told_poses {
            self.told_poses = step;
            if !(self.send)(encode(Kind::Poses, &poses, &[])) {
                return false;
            }
        }
        let progress = self.studio.progress();
        if progress.step != self.told_bake {
            self.told_bake = progress.step;
            return (self.send)(encode(Kind::Bake, &progress, &[]));
        }
        true
    }

    /// Takes a new view, or says what is wrong with it.
    fn look(&mut self, view: Box<View>) -> Result<(), String> {
        check(&view, self.studio)?;
        let reel = Reel::new(&self.studio.character, view.clip.as_deref());
        let now = Instant::now();
        let changed = self.view.as_ref().is_none_or(|old| {
            old.playing != view.playing
                || old.speed != view.speed
                || old.clip != view.clip
                || old.repeat != view.repeat
        });
        if changed || view.at.is_some() {
            self.shown = None;
            let rate = if view.playing { f64::from(reel.fps) * view.speed } else { 0.0 };
            // After a clip that ended, the clock is past its end; in one that repeats it counts on, and muscles swing on.
            let read = self.clock.read(now);
            let repeated = self.view.as_ref().map_or(view.repeat, |old| old.repeat);
            let here = if repeated && view.repeat { read } else { reel.within(read, repeated) };
            self.clock.set(now, Some(view.at.unwrap_or(here)), rate);
        }
        self.sought |= view.at.is_some() || self.view.as_ref().is_none_or(|old| old.clip != view.clip);
        let order =
            |clip: &String| JudgeOrder { look: view.looks[0], clip: clip.clone(), smooth: view.smooth };
        self.studio.judge.want(view.clip.as_ref().filter(|_| view.judged).map(order));
        self.view = Some(view);
        Ok(())
    }

    /// Carries out one order of the page; false when the page is gone.
    fn carry_out(&mut self, order: Request) -> bool {
        let studio = self.studio;
        let character = &studio.character;
        let result = match order {
            // Not of this character, or done before they come here.
            Request::View(_)
            | Request::Drawn { .. }
            | Request::Ready { .. }
            | Request::Open(_)
            | Request::GiveUpOpening
            | Request::Habits { .. }
            | Request::Folder { .. } => Ok(()),
            Request::Take { name, text } => studio.change(|d| d.take_up(character, &name, &text)),
            Request::KeepPose(pose) => {
                return studio
                    .change_poses(|folder| Poses::keep(folder, pose))
                    .map_or_else(|e| self.tell(Level::Error, &e), |()| true);
            }
            Request::RemovePose { name } => {
                return studio
                    .change_poses(|folder| Poses::remove(folder, &name))
                    .map_or_else(|e| self.tell(Level::Error, &e), |()| true);
            }
            Request::Edit { edits, drag } => studio.change(|d| d.edit(character, &edits, drag)),
            Request::Undo => studio.change(|d| d.undo().map(|_| ())),
            Request::Redo => studio.change(|d| d.redo().map(|_| ())),
            Request::Load { path } => {
                let loaded = studio.change(|d| d.load(character, Path::new(&path)));
                loaded.inspect(|()| {
                    studio.choose_folder(Path::new(&path));
                    studio.read_poses();
                })
            }
            Request::Restore { text } => {
                studio.change(|d| d.take_up(character, "the restored anatomy", &text))
            }
            Request::Recover => studio.change(|d| d.recover(character)),
            Request::GiveUp => studio.change(|d| {
                d.give_up();
                Ok(())
            }),
            Request::Save { path, confirmed } => {
                let to = path.as_deref().map(Path::new);
                if !confirmed && let Some(question) = to.and_then(|to| studio.doubt_saving(to)) {
                    let yes = json!({ "save": { "path": path, "confirmed": true } });
                    return (self.send)(ask(&question, yes, None));
                }
                match studio.change(|d| d.save(to)) {
                    Ok(path) => {
                        studio.choose_folder(&path);
                        studio.read_poses();
                        return self.tell(Level::Done, &format!("saved {}", path.display()));
                    }
                    Err(error) => Err(error),
                }
            }
            Request::Bake(order) => {
                let to = Path::new(&order.path);
                if !order.confirmed
                    && let Some(question) = studio.doubt_baking(to)
                {
                    let yes = json!({ "bake": BakeOrder { confirmed: true, ..order } });
                    return (self.send)(ask(&question, yes, None));
                }
                studio.choose_folder(to);
                let Some(number) = studio.bake.begin() else {
                    return self.tell(Level::Error, "a bake is running; cancel it first");
                };
                let (anatomy, folder) = {
                    let document = studio.document();
                    (document.anatomy().clone(), document.folder().to_owned())
                };
                let studio = studio.clone();
                std::thread::spawn(move || {
                    let notify = || studio.notify();
                    studio.bake.run(number, &order, &studio.bodies, anatomy, folder, notify);
                });
                Ok(())
            }
            Request::CancelBake => {
                studio.bake.cancel();
                studio.notify();
                Ok(())
            }
            Request::Graph { joint } => return (self.send)(graph(studio, &joint)),
        };
        match result {
            Ok(()) => true,
            Err(error) => self.tell(Level::Error, &error.to_string()),
        }
    }

    /// Draws one frame and what is under its skin; false when the page is gone.
    fn draw(&mut self) -> bool {
        let Some(view) = self.view.take() else { return true };
        let listening = self.draw_view(&view);
        self.view = Some(view);
        listening
    }

    fn draw_view(&mut self, view: &View) -> bool {
        let studio = self.studio;
        studio.judge.give_way();
        let now = Instant::now();
        self.last_frame = Some(now);
        self.stale = false;
        let reel = Reel::new(&studio.character, view.clip.as_deref());
        let playing = view.playing && view.clip.is_some();
        let mut onward = self.clock.read(now);
        let longest = LONGEST_STEP * f64::from(reel.fps);
        if let Some(last) = self.shown.filter(|last| playing && (last + longest..).contains(&onward)) {
            onward = last + longest;
            self.clock.set(now, Some(onward), f64::from(reel.fps) * view.speed);
        }
        self.shown = playing.then_some(onward);
        let at = reel.within(onward, view.repeat);
        if self.cycle.as_ref().is_none_or(|(clip, _)| *clip != view.clip) {
            self.cycle = Some((view.clip.clone(), reel.is_cycle(&studio.character)));
        }
        let sought = std::mem::take(&mut self.sought);
        let cycle = view.repeat && self.cycle.as_ref().is_some_and(|(_, cycle)| *cycle);
        let mut pose = Pose::rest(&studio.character);
        reel.sample(at, &mut pose);
        for &(joint, rotation) in &view.pose {
            pose.local[joint].rotation = Quat::from_array(rotation).normalize();
        }
        let mut looks = Vec::new();
        let mut frames = Vec::new();
        let mut quantity = None;
        let mut problem = None;
        let mut flesh = Flesh::default();
        let mut path = Vec::new();
        for (k, &look) in view.looks.iter().enumerate() {
            let Some((shown, binding, trouble)) = self.choose(look, view.clip.as_deref(), view.smooth) else {
                continue;
            };
            let running = self.running.get_mut(&shown).expect("just chosen");
            let source = view.trace.filter(|_| k == 0).and_then(|v| studio.drawn.source(v));
            let traced = source
                .zip(running.body.surface())
                .and_then(|([mesh, vertex], surface)| surface.vertex_of(&studio.character, mesh, vertex));
            let started = Instant::now();
            if sought {
                // The first frame of the clip it is in: settled, and as the clip's keys have it.
                running.state.reset();
            } else if !playing {
                // Muscles are held in their swing; the skin is the same however often it is drawn.
                running.state.reset_skin();
            }
            // Muscles swing on when a cycle repeats; keys need the time within the clip.
            let keyed =
                |m: &Musculature| m.definition().keys.iter().any(|k| Some(&k.clip) == view.clip.as_ref());
            let keyed = running.body.musculature().is_some_and(keyed);
            let time = reel.time(if cycle && !keyed { onward } else { at });
            let mut frame = Frame::default();
            let state = Some(&mut running.state);
            running.body.trace_into(&pose, time, state, traced, &mut self.workspace, &mut frame);
            let milliseconds = started.elapsed().as_secs_f64() * 1e3;
            if let Some(name) = view.quantity.as_deref().filter(|_| k == 0) {
                match self.inspect(name, &frame, &pose) {
                    Ok(found) => quantity = Some(found),
                    Err(error) => problem = Some(error.to_string()),
                }
            }
            let contacts = frame.report.tracking.as_ref().map_or(0, |t| t.contacts);
            let fell_back = frame.report.fell_back;
            looks.push(LookHead {
                look,
                shown,
                binding,
                milliseconds,
                fell_back,
                contacts,
                problem: trouble,
            });
            if k == 0 {
                path = frame.found.path.iter().map(|&(what, at)| (what, at.to_array())).collect();
                flesh = frame.found.flesh.clone();
            }
            frames.push(frame);
        }
        if frames.is_empty() {
            // Nothing is bound yet; the engine is notified when it is.
            return true;
        }
        self.frame += 1;
        if !self.tell_pieces(&frames) {
            return false;
        }
        self.mailbox.sending(self.frame);
        let inside = &view.inside;
        let fields = inside.samples.is_some() || inside.surface.is_some() || inside.slice.is_some();
        let look = if view.looks.contains(&Look::Muscles) { Look::Muscles } else { Look::Implicit };
        let body = fields.then(|| studio.bodies.get(look).body).flatten();
        let first = view.looks.first().and_then(|look| self.running.get(look));
        let musculature = first.and_then(|running| running.body.musculature());
        let moment = Moment {
            frame: self.frame,
            pose: &pose,
            shown: &frames[0],
            body: body.as_deref(),
            flesh: musculature
                .filter(|_| !flesh.muscles.is_empty() || !flesh.fat.is_empty())
                .map(|m| (m, &flesh)),
            hurried: playing,
        };
        let posed = inside.flesh.then(|| self.interior.pose_flesh(studio, &moment));
        if let Some(Ok(true)) = posed
            && !(self.send)(encode(Kind::Flesh, &self.interior.owners, &[]))
        {
            return false;
        }
        let started = Instant::now();
        let mut cubes = Vec::new();
        for (frame, numbers) in frames.iter().zip(&mut self.numbers) {
            if playing {
                cubes.push(studio.drawn.rounded(frame, &mut numbers.rounded));
            } else {
                studio.drawn.positions(frame, &mut numbers.exact);
                studio.drawn.normals(frame, &mut numbers.normals);
            }
        }
        let joints: Vec<f32> = pose
            .world(&studio.character.skeleton)
            .iter()
            .flat_map(|m| glam::Mat4::from(*m).to_cols_array())
            .collect();
        let mut values = Vec::new();
        let mut heading = None;
        if let Some(found) = &quantity {
            studio.drawn.values(&found.values, found.range, &mut values);
            let map = match found.map {
                ColourMap::Sequential => ColourTable::Sequential,
                ColourMap::Diverging => ColourTable::Diverging,
            };
            let name = found.name.clone();
            heading = Some(QuantityHead { name, unit: found.unit, range: found.range, map });
        }
        let Strands { rings, states, pads } = &self.interior.strands;
        let [rings, states, pads] = match posed {
            Some(Ok(_)) => [&rings[..], states, pads],
            _ => [&[][..]; 3],
        };
        let strand_cube =
            (playing && !rings.is_empty()).then(|| self.interior.strands.rounded(&mut self.rounded_strands));
        let mut arrays = vec![
            Array::F32(&joints),
            Array::U16(&values),
            if strand_cube.is_some() { Array::U16(&self.rounded_strands) } else { Array::F32(rings) },
            Array::F32(states),
            Array::F32(pads),
        ];
        for numbers in self.numbers.iter().take(frames.len()) {
            if playing {
                arrays.push(Array::U16(&numbers.rounded));
            } else {
                arrays.extend([Array::F32(&numbers.exact), Array::I16(&numbers.normals)]);
            }
        }
        let head = FrameHead {
            frame: self.frame,
            view: view.id,
            at,
            last: reel.last,
            fps: reel.fps,
            playing,
            revision: self.told_revision,
            looks,
            quantity: heading,
            path,
            cubes,
            strand_cube,
            flesh: posed.and_then(Result::err),
            encoding: started.elapsed().as_secs_f64() * 1e3 + self.packing,
            handing: self.mailbox.mail().handing.as_secs_f64() * 1e3,
            answering: self.arrived.take().map(|at| at.elapsed().as_secs_f64() * 1e3),
            sent: unix_milliseconds(),
            refused: studio.refused.total(),
        };
        let started = Instant::now();
        let message = encode(Kind::Frame, &head, &arrays);
        self.packing = started.elapsed().as_secs_f64() * 1e3;
        if !(self.send)(message) {
            return false;
        }
        if let Some(problem) = problem
            && !(self.send)(notice(Level::Hint, &problem))
        {
            return false;
        }
        !fields || (self.send)(self.interior.draw(inside, &moment))
    }

    /// Sends the pieces of the surface if a frame has others than those sent last; false if the page is gone.
    fn tell_pieces(&mut self, frames: &[Frame]) -> bool {
        let Some(pieces) = frames.iter().find_map(|frame| frame.found.pieces.as_ref()) else { return true };
        if self.told_pieces.as_ref().is_some_and(|told| Arc::ptr_eq(told, pieces)) {
            return true;
        }
        self.told_pieces = Some(pieces.clone());
        (self.send)(encode(Kind::Pieces, &pieces.pieces, &[]))
    }

    fn inspect(&mut self, name: &str, frame: &Frame, pose: &Pose) -> Result<Quantity, QuantityError> {
        if self.inspector.as_ref().is_none_or(|(of, _)| of != name) {
            self.inspector = Some((name.to_owned(), Inspector::new(&self.studio.character, name)?));
        }
        let (_, inspector) = self.inspector.as_ref().expect("just made");
        inspector.inspect(frame, pose)
    }

    /// The look to show for the one asked for, whether a newer body is being bound, and what is wrong. Until a body is
    /// bound for it, dual quaternions are shown.
    fn choose(
        &mut self,
        look: Look,
        clip: Option<&str>,
        smooth: Option<smooth::Settings>,
    ) -> Option<(Look, bool, Option<String>)> {
        let ready = self.studio.bodies.get(look);
        let (shown, bound) = match ready.body {
            Some(body) => (look, body),
            None => (Look::Dqs, self.studio.bodies.get(Look::Dqs).body?),
        };
        let running = self.running.get(&shown);
        let running = running.filter(|r| Arc::ptr_eq(&r.bound, &bound) && r.clip.as_deref() == clip);
        if running.is_none_or(|r| r.smooth != smooth) {
            // Muscles swing on when only the smoothing changes.
            let fresh = || clip.map_or_else(State::default, State::of_clip);
            let state = running.map_or_else(fresh, |r| r.state.clone());
            let body = bound.with_layers(layers(&bound, smooth)).ok()?;
            self.running.insert(shown, Running { bound, body, smooth, state, clip: clip.map(str::to_owned) });
        }
        Some((shown, !ready.fresh, ready.problem))
    }
}

/// The layers of a body: this smoothing, then its own wrinkles.
pub(crate) fn layers(body: &Body, smooth: Option<smooth::Settings>) -> Vec<LayerDef> {
    let own = body.stack().surface.iter().filter(|layer| matches!(layer, LayerDef::Wrinkles(_)));
    smooth.map(LayerDef::Smooth).into_iter().chain(own.cloned()).collect()
}

/// A question, the request that a yes sends, and the one that a no sends.
fn ask(text: &str, yes: Value, no: Option<Value>) -> Bytes {
    let head = Notice { level: Level::Question, text: text.to_owned(), yes: Some(yes), no };
    encode(Kind::Notice, &head, &[])
}

fn notice(level: Level, text: &str) -> Bytes {
    encode(Kind::Notice, &Notice { level, text: text.to_owned(), yes: None, no: None }, &[])
}

/// Milliseconds since 1970.
pub fn unix_milliseconds() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64() * 1e3)
}

/// What is wrong with a view, in plain words.
fn check(view: &View, studio: &Studio) -> Result<(), String> {
    let character = &studio.character;
    if let Some(name) = &view.clip
        && character.clip(name).is_none()
    {
        return Err(format!("no clip is called \"{name}\""));
    }
    let finite = view.speed.is_finite() && view.at.is_none_or(f64::is_finite);
    if !finite || !(0.0..=16.0).contains(&view.speed) {
        return Err("time and speed must be numbers; the speed is from 0 to 16".to_owned());
    }
    if !(1..=2).contains(&view.looks.len()) {
        return Err("one method is shown, or two to compare".to_owned());
    }
    if view.pose.len() > character.skeleton.len() {
        return Err("more joints are turned than there are".to_owned());
    }
    for &(joint, rotation) in &view.pose {
        let length = Quat::from_array(rotation).length();
        if joint >= character.skeleton.len() || !(0.5..=2.0).contains(&length) {
            return Err(format!("joint {joint} does not exist or its rotation is none"));
        }
    }
    if view.trace.is_some_and(|v| studio.drawn.source(v).is_none()) {
        return Err("there is no such vertex to follow".to_owned());
    }
    if let Some(settings) = view.smooth {
        LayerDef::Smooth(settings).check().map_err(|error| error.to_string())?;
    }
    let levels = view.inside.surface.as_ref().is_none_or(|s| s.level.is_finite());
    let planes = view.inside.slice.as_ref().is_none_or(|s| s.at.is_finite());
    if !levels || !planes {
        return Err("a level and a place must be numbers".to_owned());
    }
    Ok(())
}
