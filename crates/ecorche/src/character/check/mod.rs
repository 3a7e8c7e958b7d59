//! From what a file says to a character the rest can trust.
//!
//! Order of work: the hierarchy is put in order, meshes and skins are repaired and converted to
//! metres, Y up, then the clips. Each change is listed as a [`Repair`].

mod clips;
mod hierarchy;
mod meshes;
mod skins;

use super::raw::RawCharacter;
use super::{Character, ReadError, Repair, World};
use std::collections::BTreeMap;
use std::path::Path;

/// Most vertices, corners or keys of one list; beyond it a count in a file is taken for damage.
const MOST_ELEMENTS: usize = 1 << 30;

/// Checks, repairs and converts `raw`, read from `path`.
pub fn check(path: &Path, mut raw: RawCharacter) -> Result<Character, ReadError> {
    let mut repairs = std::mem::take(&mut raw.repairs);
    for mesh in &raw.meshes {
        if mesh.positions.len().max(mesh.corners.len()) > MOST_ELEMENTS {
            return Err(ReadError::Malformed {
                path: path.to_owned(),
                thing: format!("mesh \"{}\"", mesh.name),
                problem: format!("has more than {MOST_ELEMENTS} vertices or corners"),
                remedy: "split the mesh".into(),
            });
        }
    }
    check_world(&mut raw.world, &mut repairs);
    meshes::give_every_mesh_a_node(&mut raw);
    let order = hierarchy::check(&mut raw, &mut repairs);
    let mut skeleton = order.skeleton;
    let mut meshes = meshes::check(&raw, &order.joint_of_node, &mut repairs);
    skins::bind(&raw, &order.joint_of_node, &mut skeleton, &mut meshes, &mut repairs);
    meshes::weld(&raw, &mut meshes, &skeleton, &mut repairs);
    let clips = clips::check(&raw, &order.joint_of_node, &meshes, &mut repairs);
    if meshes.is_empty() && skeleton.is_empty() {
        return Err(ReadError::Malformed {
            path: path.to_owned(),
            thing: "the file".into(),
            problem: "holds neither a mesh nor a joint".into(),
            remedy: "export the character again with its mesh and armature".into(),
        });
    }
    let name = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    Ok(Character { name, skeleton, meshes, clips, world: raw.world, repairs, colours: Vec::new() })
}

fn check_world(world: &mut World, repairs: &mut Vec<Repair>) {
    if !(world.metres_per_unit.is_finite() && world.metres_per_unit > 0.0) {
        repairs.push(Repair::new("unit", format!("is {} metres", world.metres_per_unit), "taken as 1 metre"));
        world.metres_per_unit = 1.0;
    }
}

/// Names given so far, with how often each was asked for.
type TakenNames = BTreeMap<String, usize>;

/// Gives empty names a default and repeated ones a number.
fn unique_name(name: &str, default: &str, taken: &mut TakenNames) -> String {
    let wanted = if name.trim().is_empty() { default } else { name };
    let mut unique = wanted.to_owned();
    while taken.contains_key(&unique) {
        let asked = taken.entry(wanted.to_owned()).or_default();
        *asked += 1;
        unique = format!("{wanted}.{asked:03}");
    }
    taken.insert(unique.clone(), 0);
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_unique_even_when_the_numbered_one_is_taken() {
        let mut taken = TakenNames::new();
        let names = ["eye", "eye.001", "eye", "", "eye", "mesh"].map(|n| unique_name(n, "mesh", &mut taken));
        assert_eq!(names, ["eye", "eye.001", "eye.002", "mesh", "eye.003", "mesh.001"]);
    }
}
