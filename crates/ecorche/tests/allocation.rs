//! Once the first frames have made room, a frame of the implicit skin asks for no memory, alone or after the one before, with
//! corrective smoothing or without; nor does a crowd with parametric muscles.

use ecorche::character::Pose;
use ecorche::crowd::{Crowd, Detail, Instance};
use ecorche::deform::{Body, Settings, Stack, State, Workspace};
use ecorche::frame::Frame;
use ecorche::recipe::Recipe;
use ecorche::surface::LayerDef;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

/// The system's allocator, counting what each thread asks it for.
struct Counting;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: the caller's promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: the caller's promises.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Plays moments of a clip over and over on one thread; the last time none of them may ask for memory.
fn asks_for_nothing(sample: &str, clip: &str, stack: Stack, coherent: bool, times: &[f32]) {
    let character = Arc::new(ecorche::samples::build(sample).unwrap());
    let tracked = stack.tracking.is_some();
    let settings = Settings { coherent, ..stack.into() };
    let body = Body::bind(character.clone(), settings, None).unwrap();
    let mut state = State::default();
    let (mut workspace, mut frame) = (Workspace::default(), Frame::default());
    let mut pose = Pose::rest(&character);
    let clip = character.clip(clip).unwrap();
    let mut play = || {
        state.reset();
        let deform = |&time: &f32| {
            clip.sample(time, &mut pose);
            let before = ASKED.get();
            body.deform_into(&pose, time, coherent.then_some(&mut state), &mut workspace, &mut frame);
            let asked = ASKED.get() - before;
            let crossed = frame.report.tracking.map_or(0, |tracking| tracking.pairs[0]);
            (asked, crossed)
        };
        times.iter().map(deform).collect::<Vec<_>>()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let frames = pool.install(|| {
        let first = play();
        assert!(first[0].0 > 0, "the first frame makes room, and is counted");
        (0..3).for_each(|_| drop(play()));
        play()
    });
    for (time, (asked, crossed)) in times.iter().zip(frames) {
        assert!(!tracked || crossed > 0, "{sample} {} at {time} s: nothing to untangle", clip.name);
        assert_eq!(asked, 0, "{sample} {} at {time} s asks for memory", clip.name);
    }
}

#[test]
fn a_fist_that_closes_asks_for_no_memory() {
    asks_for_nothing("hand", "fist", Stack::implicit(), false, &[0.9, 1.2, 1.05]);
    asks_for_nothing("hand", "fist", Stack::implicit(), true, &[0.9, 1.05, 1.2]);
}

#[test]
fn a_deep_squat_asks_for_no_memory() {
    asks_for_nothing("athlete", "squat", Stack::implicit(), false, &[1.4, 1.3]);
}

#[test]
fn corrective_smoothing_asks_for_no_memory() {
    let smoothed = |stack| Stack { surface: vec![LayerDef::Smooth(Default::default())], ..stack };
    asks_for_nothing("hand", "fist", smoothed(Stack::linear()), false, &[0.9, 1.2]);
    asks_for_nothing("hand", "fist", smoothed(Stack::implicit()), true, &[0.9, 1.05]);
}

#[test]
fn a_crowd_asks_for_no_memory() {
    let ingredients = Recipe::of("sample:arm?resolution=2000").read().unwrap();
    let body = ingredients.bind(ingredients.settings(Some(Stack::parametric())), None).unwrap();
    assert!(body.parametric().is_some_and(|muscles| muscles.len() >= 4));
    let instances = (0..5).map(|k| Instance { clip: Some(0), offset: 0.2 * k as f32, ..Instance::default() });
    let mut crowd = Crowd::new(vec![body], instances.collect(), Detail::default()).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let asked = pool.install(|| {
        let mut play = || (0..4).map(|k| crowd.frame(0.3 * k as f32, None).fell_back).sum::<usize>();
        assert_eq!(play(), 0, "the first frames make room");
        let before = ASKED.get();
        assert_eq!(play(), 0);
        ASKED.get() - before
    });
    assert_eq!(asked, 0, "a warm crowd asks for memory");
}
