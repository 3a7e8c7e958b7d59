//! Lesson 2: compare methods by figures.
//!
//! `cargo run --release -p ecorche --example measure_a_clip` bends the built-in arm by two methods and prints how many triangles
//! pass through each other and how much space is lost.

use ecorche::deform::{Body, Stack};
use ecorche::measure::{ClipFigures, Judge, judge_clip};
use ecorche::sampling::{Plan, Sampling};
use ecorche::skinning::Surface;
use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    for (name, stack) in
        [("dual quaternions", Stack::dual_quaternion()), ("implicit skin", Stack::implicit())]
    {
        let figures = run(stack)?;
        let worst = |figure: &str| figures.of(figure).map_or(0.0, |summary| summary.worst);
        let (pairs, lost) = (worst("pairs"), 100.0 * worst("filled_loss"));
        println!("{name}: at worst {pairs} crossing pairs and {lost:.1} % of the space lost");
    }
    Ok(())
}

/// The figures of the arm's curl, six frames a second.
fn run(stack: Stack) -> Result<ClipFigures, Box<dyn Error>> {
    let character = Arc::new(ecorche::samples::build("arm")?);
    let plan = Plan::new(character.clip("curl"), &Sampling { fps: Some(6.0), frames: None })?;
    // The judge looks at positions alone. It compares them with the rest pose, whatever method made them.
    let surface = Surface::new(&character).ok_or("the arm has no skin")?;
    let judge = Judge::of(&surface)?;
    let body = Body::bind(character.clone(), stack, None)?;
    Ok(judge_clip(&judge, &surface, &body, &plan, |_| ControlFlow::Continue(()))?)
}

#[test]
fn the_implicit_skin_has_no_crossings_where_dual_quaternions_have() {
    let pairs = |stack| run(stack).unwrap().of("pairs").unwrap().worst;
    assert!(pairs(Stack::dual_quaternion()) > 0.0);
    assert_eq!(pairs(Stack::implicit()), 0.0);
}
