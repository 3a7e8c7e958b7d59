//! Parents before children, no cycles, no broken transforms.

use crate::character::raw::RawCharacter;
use crate::character::{Joint, Repair, Skeleton};
use crate::math::Transform;
use glam::Quat;

/// The hierarchy in order, and where each raw node went.
pub struct Order {
    pub skeleton: Skeleton,
    pub joint_of_node: Vec<usize>,
}

/// Orders the nodes; every one becomes a joint. Works along chains, not by recursion: files nest
/// tens of thousands of nodes.
pub fn check(raw: &mut RawCharacter, repairs: &mut Vec<Repair>) -> Order {
    const UNPLACED: usize = usize::MAX;
    let count = raw.nodes.len();
    for i in 0..count {
        if raw.nodes[i].parent.is_some_and(|p| p >= count) {
            raw.nodes[i].parent = None;
            repairs.push(Repair::new(
                format!("node \"{}\"", raw.nodes[i].name),
                "its parent does not exist",
                "made a root",
            ));
        }
    }
    let mut joint_of_node = vec![UNPLACED; count];
    let mut on_chain = vec![false; count];
    let mut skeleton = Skeleton::default();
    let mut chain = Vec::new();
    for first in 0..count {
        let mut node = first;
        while joint_of_node[node] == UNPLACED {
            chain.push(node);
            on_chain[node] = true;
            match raw.nodes[node].parent {
                Some(parent) if on_chain[parent] => {
                    raw.nodes[node].parent = None;
                    let name = &raw.nodes[node].name;
                    repairs.push(Repair::new(
                        format!("node \"{name}\""),
                        "is its own ancestor",
                        "made a root",
                    ));
                    break;
                }
                Some(parent) => node = parent,
                None => break,
            }
        }
        for &node in chain.iter().rev() {
            on_chain[node] = false;
            joint_of_node[node] = skeleton.joints.len();
            let raw_node = &raw.nodes[node];
            let name = match raw_node.name.trim() {
                "" => format!("node_{node}"),
                _ => raw_node.name.clone(),
            };
            let rest = raw.world.transform_to_internal(sound(raw_node.local, &name, repairs));
            let parent = raw_node.parent.map(|p| joint_of_node[p]);
            skeleton.joints.push(Joint { name, parent, rest, in_skin: false });
        }
        chain.clear();
    }
    Order { skeleton, joint_of_node }
}

fn sound(local: Transform, name: &str, repairs: &mut Vec<Repair>) -> Transform {
    if !local.is_finite() {
        repairs.push(Repair::new(
            format!("node \"{name}\""),
            "its transform is not finite",
            "taken as identity",
        ));
        return Transform::IDENTITY;
    }
    let rotation =
        if local.rotation.length_squared() > 1e-12 { local.rotation.normalize() } else { Quat::IDENTITY };
    Transform { rotation, ..local }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::raw::RawNode;

    fn nodes(parents: &[Option<usize>]) -> RawCharacter {
        let nodes = parents.iter().enumerate().map(|(i, &parent)| RawNode {
            name: format!("n{i}"),
            parent,
            ..RawNode::default()
        });
        RawCharacter { nodes: nodes.collect(), ..RawCharacter::default() }
    }

    fn names(skeleton: &Skeleton) -> Vec<&str> {
        skeleton.joints.iter().map(|j| j.name.as_str()).collect()
    }

    #[test]
    fn parents_come_first_and_file_order_is_kept_otherwise() {
        let mut repairs = Vec::new();
        let order = check(&mut nodes(&[Some(2), None, None, Some(0)]), &mut repairs);
        assert_eq!(names(&order.skeleton), ["n2", "n0", "n1", "n3"]);
        assert_eq!(order.skeleton.joints[3].parent, Some(1));
        assert!(repairs.is_empty());
    }

    #[test]
    fn a_cycle_is_cut_and_reported() {
        let mut repairs = Vec::new();
        let order = check(&mut nodes(&[Some(1), Some(2), Some(0), Some(9)]), &mut repairs);
        assert_eq!(order.skeleton.len(), 4);
        assert_eq!(repairs.len(), 2);
        for (i, joint) in order.skeleton.joints.iter().enumerate() {
            assert!(joint.parent.is_none_or(|p| p < i));
        }
    }

    #[test]
    fn sixty_thousand_nested_nodes_do_not_overflow_the_stack() {
        let parents: Vec<_> = (0..60_000).map(|i| if i == 59_999 { None } else { Some(i + 1) }).collect();
        let order = check(&mut nodes(&parents), &mut Vec::new());
        assert_eq!(order.skeleton.len(), 60_000);
        assert_eq!(order.skeleton.joints[0].name, "n59999");
    }
}
