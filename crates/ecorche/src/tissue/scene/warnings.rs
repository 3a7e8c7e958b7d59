//! What is worth saying about a scene that can still run: bodies that start inside something, surfaces that cross
//! themselves. Every sentence names the elements.

use super::build::at;
use super::{SceneFile, Source};
use crate::geom::{SelfContact, TriMesh};
use crate::tissue::contact::Within;
use crate::tissue::step::Simulation;
use toml::Spanned;

/// Element numbers a sentence lists before it only counts.
const LISTED: usize = 10;

/// `3, 7, 12 (and 40 more)`.
pub(super) fn listed(numbers: &[usize]) -> String {
    let shown: Vec<String> = numbers.iter().take(LISTED).map(usize::to_string).collect();
    let mut text = shown.join(", ");
    if numbers.len() > LISTED {
        text += &format!(" (and {} more)", numbers.len() - LISTED);
    }
    text
}

/// What intersects in the first state.
pub(super) fn first_state(source: &Source, file: &SceneFile, simulation: &Simulation) -> Vec<String> {
    let (model, contacts) = (&simulation.model, &simulation.contacts);
    let keeps = contacts.settings.keep_overlap;
    let remedy = if keeps {
        "the overlap is kept"
    } else {
        "set contact.keep_overlap or run.rest_blend, or move them apart"
    };
    contacts
        .intersections(&simulation.moment())
        .iter()
        .map(|found| {
            let name = |part: usize| &model.parts[part].name;
            let depth = if found.depth > 0.0 {
                format!(" by up to {:.2} mm", found.depth * 1e3)
            } else {
                String::new()
            };
            let tets = |part: usize, list: &[usize]| {
                format!("{} tetrahedra of \"{}\": {}", list.len(), name(part), listed(list))
            };
            let own = tets(found.part, &found.tets);
            let what = match found.within {
                Within::Body(other) if other == found.part => {
                    format!(
                        "body \"{}\" intersects itself{depth} in the first state: {own}; remesh it",
                        name(other)
                    )
                }
                Within::Body(other) => format!(
                    "bodies \"{}\" and \"{}\" overlap{depth} in the first state: {own}; {}; {remedy}",
                    name(found.part),
                    name(other),
                    tets(other, &found.others)
                ),
                Within::Obstacle(o) => format!(
                    "body \"{}\" is inside bone \"{}\"{depth} in the first state: {own}; {remedy}",
                    name(found.part),
                    contacts.obstacles[o].name
                ),
            };
            source.error(at(&file.body[found.part].get_ref().name), what).to_string()
        })
        .collect()
}

/// Where a body's surface passes through itself.
pub(super) fn crossed(source: &Source, body: &Spanned<String>, surface: &TriMesh) -> Option<String> {
    let crossings = SelfContact::new(&surface.positions, &surface.triangles).find(&surface.positions);
    let mut triangles: Vec<usize> =
        crossings.pairs.iter().chain(&crossings.folds).flatten().map(|&t| t as usize).collect();
    triangles.sort_unstable();
    triangles.dedup();
    (!triangles.is_empty()).then(|| {
        let what = format!(
            "body \"{}\": {} triangles of its surface cross others: {}; near them the tetrahedra may have holes: repair the surface",
            body.get_ref(),
            triangles.len(),
            listed(&triangles)
        );
        source.error(at(body), what).to_string()
    })
}
