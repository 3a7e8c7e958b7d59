//! The field of a whole body: one field per part, joined along the skeleton.
//!
//! | rule | value | contact between limbs that are not neighbours |
//! |---|---|---|
//! | [`Rule::Branches`] | each branch joined to its parent by the joint's operator, siblings two by two by the default one | under the operator of the joint where the branches meet |
//! | [`Rule::JointPairs`] | largest of the joints' pairs `g_k(f_i, f_j)` | none: a pair without the contact gives back the undented value |
//! | [`Rule::Contact`] | largest of the blending joints' pairs, lowered by every pair that separates | by the default operator, wherever they are |
//!
//! The last rule in symbols:
//!
//! | symbol | here | meaning |
//! |---|---|---|
//! | f_i, M | `active`, `largest` | values of the parts, the largest of them |
//! | A | `joined` | largest of M and of the pairs whose operator does not separate |
//! | b_ij | `opposed` | `A (f_i/M)(f_j/M)`; the smaller value of a pair that holds the largest, A on the wall between them |
//! | F | | smallest of A and of `G(A, b_ij)` over all pairs whose operator separates |
//!
//! With G the contact operator and two parts that is the operator itself. F is 1/2 where A is, and on the
//! wall between any two parts. Because every pair counts, not only those of the strongest part, F stays
//! continuous when another part becomes the strongest.
//!
//! A point outside the box around a branch skips the branch. Per sample nothing is allocated and nothing is
//! recursive: [`Rule::Branches`] is a list of steps for a stack of at most 33 samples, because of
//! two operands the one that needs more stack comes first.
//!
//! Based on: Vaillant et al. Implicit Skinning. 2012 (joint pairs); Roussellet. Thesis. 2018, chapter 3
//! (branches, boxes).
//! Differs in: the contact rule is our own. Operators whose root is searched should come tabulated
//! ([`Composition::tabulated`]): among 60 parts of which two or three overlap, a sample with bulges then
//! takes 0.4 of the time, with values off by at most 3.5e-3 on creases; blends have a closed form and need no
//! table. The contact rule takes 0.6 of the time of branches.

use super::{Composition, Field, Sample, Support};
use glam::Vec3;
use std::sync::Arc;

/// How the fields of more than two parts are joined, see the [module](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// Along the skeleton, branch by branch.
    Branches,
    /// The largest of the joints' pairs.
    JointPairs,
    /// Blends at joints, contact everywhere.
    #[default]
    Contact,
}

/// Why parts do not form a tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// A parent's index is not a part.
    #[error("part {part} has parent {parent}, but there are {count} parts")]
    Parent {
        /// The part.
        part: usize,
        /// Its parent.
        parent: u32,
        /// Number of parts.
        count: usize,
    },
    /// A part is its own ancestor.
    #[error("part {0} is its own ancestor; a skeleton has no loops")]
    Loop(usize),
    /// A composition is given for a part that does not exist.
    #[error("a composition is given for part {0}, but there are {1} parts")]
    Part(u32, usize),
}

/// Samples held at once: a tree of n parts needs `log2(n) + 1`.
const STACK: usize = 33;

/// Parts that count at one point; of more, the strongest. At the root of a hand 8 fields overlap.
const MOST_ACTIVE: usize = 16;

/// Branches of fewer parts have no box of their own: testing it costs as much as testing theirs.
const BOXED_FROM: usize = 4;

/// One step of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// If the point is outside branch box `branch`, the branch is absent and the list goes on at `end`.
    Enter { branch: u32, end: u32 },
    /// Push the sample of a part.
    Part(u32),
    /// Join the upper two samples; `turned` if the operator's second operand lies below the first.
    Join { composition: u32, turned: bool },
}

/// The joining of a body's parts; made once.
#[derive(Debug)]
pub struct Tree {
    rule: Rule,
    /// The default, then those of single joints.
    compositions: Vec<Composition>,
    parents: Vec<Option<u32>>,
    /// Composition of the joint between each part and its parent.
    composition_of_part: Vec<u32>,
    /// Joints of each part.
    joints_of_part: Vec<u32>,
    steps: Vec<Step>,
    /// Parts in the order of the steps.
    order: Vec<u32>,
    /// For each box its range of `order`.
    branches: Vec<(u32, u32)>,
}

/// A node of the expression the steps are made from.
struct Node {
    operands: Option<(usize, usize)>,
    /// Part of a leaf, composition of a join.
    what: u32,
    stack: u32,
    parts: usize,
}

#[derive(Default)]
struct Expression(Vec<Node>);

impl Expression {
    fn leaf(&mut self, part: u32) -> usize {
        self.0.push(Node { operands: None, what: part, stack: 1, parts: 1 });
        self.0.len() - 1
    }

    fn join(&mut self, first: usize, second: usize, composition: u32) -> usize {
        let (a, b) = (&self.0[first], &self.0[second]);
        let stack = if a.stack == b.stack { a.stack + 1 } else { a.stack.max(b.stack) };
        let parts = a.parts + b.parts;
        self.0.push(Node { operands: Some((first, second)), what: composition, stack, parts });
        self.0.len() - 1
    }

    /// Joins two by two by the default composition until one is left.
    fn fold(&mut self, mut nodes: Vec<usize>) -> Option<usize> {
        while nodes.len() > 1 {
            let pairs = nodes.chunks(2);
            nodes = pairs.map(|p| if let [a, b] = *p { self.join(a, b, 0) } else { p[0] }).collect();
        }
        nodes.pop()
    }
}

impl Tree {
    /// Joins parts whose neighbours towards the root are `parents`. `special` names the parts whose joint
    /// with their parent has a composition of its own; the last of equals counts.
    pub fn new(
        rule: Rule,
        parents: &[Option<u32>],
        default: Composition,
        special: Vec<(u32, Composition)>,
    ) -> Result<Self, TreeError> {
        let count = parents.len();
        let top_down = top_down(parents)?;
        let mut compositions = vec![default];
        let mut composition_of_part = vec![0u32; count];
        for (part, composition) in special {
            let slot = composition_of_part.get_mut(part as usize).ok_or(TreeError::Part(part, count))?;
            *slot = compositions.len() as u32;
            compositions.push(composition);
        }
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut joints_of_part = vec![0u32; count];
        for (part, parent) in parents.iter().enumerate() {
            if let Some(parent) = *parent {
                children[parent as usize].push(part as u32);
                joints_of_part[part] += 1;
                joints_of_part[parent as usize] += 1;
            }
        }
        let mut expression = Expression::default();
        let mut branch = vec![0usize; count];
        for &part in top_down.iter().rev() {
            let mut node = expression.leaf(part);
            let (own, plain): (Vec<u32>, Vec<u32>) =
                children[part as usize].iter().partition(|&&child| composition_of_part[child as usize] > 0);
            // Siblings meet each other before they meet the parent.
            if let Some(group) = expression.fold(plain.iter().map(|&c| branch[c as usize]).collect()) {
                node = expression.join(node, group, 0);
            }
            for child in own {
                node = expression.join(node, branch[child as usize], composition_of_part[child as usize]);
            }
            branch[part as usize] = node;
        }
        let roots = (0..count).filter(|&part| parents[part].is_none()).map(|part| branch[part]).collect();
        let root = expression.fold(roots);
        let mut tree = Self {
            rule,
            compositions,
            parents: parents.to_vec(),
            composition_of_part,
            joints_of_part,
            steps: Vec::new(),
            order: Vec::new(),
            branches: Vec::new(),
        };
        if let Some(root) = root {
            tree.write_steps(&expression.0, root);
        }
        Ok(tree)
    }

    fn write_steps(&mut self, nodes: &[Node], root: usize) {
        enum Task {
            Visit(usize),
            Join { composition: u32, turned: bool },
            Close { step: usize, branch: usize },
        }
        let mut tasks = vec![Task::Visit(root)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(node) => {
                    let node = &nodes[node];
                    let Some((first, second)) = node.operands else {
                        self.steps.push(Step::Part(node.what));
                        self.order.push(node.what);
                        continue;
                    };
                    if node.parts >= BOXED_FROM {
                        let branch = self.branches.len();
                        self.branches.push((self.order.len() as u32, 0));
                        tasks.push(Task::Close { step: self.steps.len(), branch });
                        self.steps.push(Step::Enter { branch: branch as u32, end: 0 });
                    }
                    let turned = nodes[second].stack > nodes[first].stack;
                    let (below, above) = if turned { (second, first) } else { (first, second) };
                    tasks.push(Task::Join { composition: node.what, turned });
                    tasks.push(Task::Visit(above));
                    tasks.push(Task::Visit(below));
                }
                Task::Join { composition, turned } => self.steps.push(Step::Join { composition, turned }),
                Task::Close { step, branch } => {
                    self.branches[branch].1 = self.order.len() as u32;
                    self.steps[step] = Step::Enter { branch: branch as u32, end: self.steps.len() as u32 };
                }
            }
        }
    }

    /// Number of parts.
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// Boxes of the branches when the parts reach as far as `support` says; for [`Tree::sample`].
    pub(crate) fn boxes(&self, support: impl Fn(u32) -> Support, boxes: &mut Vec<Support>) {
        boxes.clear();
        boxes.extend(self.branches.iter().map(|&(start, end)| {
            self.order[start as usize..end as usize]
                .iter()
                .fold(Support::EMPTY, |all, &p| all.with(support(p)))
        }));
    }

    /// The composed field at a point, from `part(index, point)`. `boxes` as filled by [`Tree::boxes`].
    #[inline]
    pub(crate) fn sample(
        &self,
        boxes: &[Support],
        part: impl Fn(u32, Vec3) -> Sample,
        point: Vec3,
    ) -> Sample {
        match self.rule {
            Rule::Branches => self.sample_branches(boxes, part, point),
            Rule::JointPairs | Rule::Contact => self.sample_pairs(boxes, part, point),
        }
    }

    fn sample_branches(&self, boxes: &[Support], part: impl Fn(u32, Vec3) -> Sample, point: Vec3) -> Sample {
        let mut stack = [Sample::OUTSIDE; STACK];
        let (mut height, mut at) = (0, 0);
        while let Some(&step) = self.steps.get(at) {
            at += 1;
            match step {
                Step::Enter { branch, end } => {
                    if !boxes[branch as usize].contains(point) {
                        stack[height] = Sample::OUTSIDE;
                        height += 1;
                        at = end as usize;
                    }
                }
                Step::Part(index) => {
                    stack[height] = part(index, point);
                    height += 1;
                }
                Step::Join { composition, turned } => {
                    let (below, above) = (stack[height - 2], stack[height - 1]);
                    let (first, second) = if turned { (above, below) } else { (below, above) };
                    height -= 1;
                    stack[height - 1] = if second.value > 0.0 {
                        self.compositions[composition as usize].join(first, second)
                    } else {
                        first
                    };
                }
            }
        }
        stack[0]
    }

    fn sample_pairs(&self, boxes: &[Support], part: impl Fn(u32, Vec3) -> Sample, point: Vec3) -> Sample {
        let mut active = [(0u32, Sample::OUTSIDE); MOST_ACTIVE];
        let mut count = 0;
        let mut at = 0;
        while let Some(&step) = self.steps.get(at) {
            at += 1;
            match step {
                Step::Enter { branch, end } if !boxes[branch as usize].contains(point) => at = end as usize,
                Step::Enter { .. } | Step::Join { .. } => {}
                Step::Part(index) => {
                    let sample = part(index, point);
                    if sample.value > 0.0 {
                        keep(&mut active, &mut count, (index, sample));
                    }
                }
            }
        }
        let active = &active[..count];
        let Some(&(_, largest)) = active.iter().reduce(|a, b| if b.1.value > a.1.value { b } else { a })
        else {
            return Sample::OUTSIDE;
        };
        let separating =
            |composition: &Composition| self.rule == Rule::Contact && composition.operator.separates();
        let mut joined = if self.rule == Rule::JointPairs { Sample::OUTSIDE } else { largest };
        for (i, first) in active.iter().enumerate() {
            let mut joints = 0;
            for (j, second) in active.iter().enumerate() {
                let Some((parent, child, composition)) = self.joint(first, second) else { continue };
                joints += 1;
                if j < i && !separating(composition) {
                    joined = larger(joined, composition.join(parent, child));
                }
            }
            // A joint with an absent part gives the other part's value.
            let joints_of_part = self.joints_of_part[first.0 as usize];
            if self.rule == Rule::JointPairs && (joints < joints_of_part || joints_of_part == 0) {
                joined = larger(joined, first.1);
            }
        }
        // No operator lowers what is outside.
        if self.rule == Rule::JointPairs || joined.value <= 0.5 {
            return joined;
        }
        let mut lowest = joined;
        for (i, first) in active.iter().enumerate() {
            for second in &active[..i] {
                let composition = self.joint(first, second).map_or(&self.compositions[0], |joint| joint.2);
                if separating(composition) {
                    lower(composition, joined, largest, first.1, second.1, &mut lowest);
                }
            }
        }
        lowest
    }

    /// Parent, child and composition, if the parts share a joint.
    #[inline]
    fn joint(&self, a: &(u32, Sample), b: &(u32, Sample)) -> Option<(Sample, Sample, &Composition)> {
        let composition = |child: u32| &self.compositions[self.composition_of_part[child as usize] as usize];
        if self.parents[a.0 as usize] == Some(b.0) {
            Some((b.1, a.1, composition(a.0)))
        } else if self.parents[b.0 as usize] == Some(a.0) {
            Some((a.1, b.1, composition(b.0)))
        } else {
            None
        }
    }
}

fn larger(a: Sample, b: Sample) -> Sample {
    if b.value > a.value { b } else { a }
}

/// Puts a part on the list; on a full list in place of the weakest, if that is weaker.
fn keep(active: &mut [(u32, Sample); MOST_ACTIVE], count: &mut usize, new: (u32, Sample)) {
    if *count < MOST_ACTIVE {
        active[*count] = new;
        *count += 1;
        return;
    }
    let mut weakest = 0;
    for i in 1..MOST_ACTIVE {
        if active[i].1.value < active[weakest].1.value {
            weakest = i;
        }
    }
    if active[weakest].1.value < new.1.value {
        active[weakest] = new;
    }
}

/// `G(A, b_ij)` of one pair, if it is lower than what there is.
#[inline]
fn lower(
    composition: &Composition,
    joined: Sample,
    largest: Sample,
    first: Sample,
    second: Sample,
    lowest: &mut Sample,
) {
    let a = f64::from(joined.value);
    let most = f64::from(largest.value);
    let opposed = a * (f64::from(first.value) / most) * (f64::from(second.value) / most);
    // Fully opened it lowers most; the controller is the expensive part.
    if composition.operator.compose(a, opposed, 1.0).value >= f64::from(lowest.value) {
        return;
    }
    let angle = super::operator::controller::angle(first.gradient, second.gradient);
    let lowered = composition.operator.compose(a, opposed, composition.controller.opening(angle));
    if lowered.value >= f64::from(lowest.value) {
        return;
    }
    let relative = |s: Sample| s.gradient / s.value;
    let opposed_gradient = relative(joined) + relative(first) + relative(second) - 2.0 * relative(largest);
    let gradient = lowered.da as f32 * joined.gradient + (lowered.db * opposed) as f32 * opposed_gradient;
    *lowest = Sample { value: lowered.value as f32, gradient };
}

/// Parts with every parent before its children.
fn top_down(parents: &[Option<u32>]) -> Result<Vec<u32>, TreeError> {
    let count = parents.len();
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut order = Vec::with_capacity(count);
    for (part, parent) in parents.iter().enumerate() {
        match *parent {
            None => order.push(part as u32),
            Some(parent) => children
                .get_mut(parent as usize)
                .ok_or(TreeError::Parent { part, parent, count })?
                .push(part as u32),
        }
    }
    let mut next = 0;
    while let Some(&part) = order.get(next) {
        next += 1;
        order.extend_from_slice(&children[part as usize]);
    }
    if order.len() < count {
        let mut reached = vec![false; count];
        order.iter().for_each(|&part| reached[part as usize] = true);
        return Err(TreeError::Loop(reached.iter().position(|r| !r).unwrap_or(0)));
    }
    Ok(order)
}

/// A tree with its parts in a pose: the field of the body.
#[derive(Clone, Debug)]
pub struct PosedTree<F> {
    tree: Arc<Tree>,
    parts: Vec<F>,
    boxes: Vec<Support>,
    supports: Vec<Support>,
}

impl<F: Field> PosedTree<F> {
    /// The body's field; `parts` in the tree's order. Parts beyond the shorter of both lists do not count.
    pub fn new(tree: Arc<Tree>, parts: Vec<F>) -> Self {
        let mut posed = Self { tree, parts, boxes: Vec::new(), supports: Vec::new() };
        posed.refit();
        posed
    }

    /// Changes the parts, as when their bones move.
    pub fn pose(&mut self, change: impl FnOnce(&mut [F])) {
        change(&mut self.parts);
        self.refit();
    }

    fn refit(&mut self) {
        self.supports.clear();
        self.supports.extend(self.parts.iter().map(Field::support));
        self.supports.resize(self.tree.len(), Support::EMPTY);
        self.tree.boxes(|part| self.supports[part as usize], &mut self.boxes);
    }

    /// The field of one part.
    #[inline]
    pub(crate) fn sample_part(&self, part: u32, point: Vec3) -> Sample {
        if self.supports[part as usize].contains(point) {
            self.parts[part as usize].sample(point)
        } else {
            Sample::OUTSIDE
        }
    }

    /// The strongest part but `own`; `None` where there is no other.
    pub(crate) fn strongest_other(&self, own: u32, point: Vec3) -> Option<(u32, Sample)> {
        let mut strongest: Option<(u32, Sample)> = None;
        let mut at = 0;
        while let Some(&step) = self.tree.steps.get(at) {
            at += 1;
            match step {
                Step::Enter { branch, end } if !self.boxes[branch as usize].contains(point) => {
                    at = end as usize
                }
                Step::Part(part) if part != own => {
                    let sample = self.sample_part(part, point);
                    if sample.value > strongest.map_or(0.0, |s| s.1.value) {
                        strongest = Some((part, sample));
                    }
                }
                _ => {}
            }
        }
        strongest
    }

    /// The parts.
    pub fn parts(&self) -> &[F] {
        &self.parts
    }
}

impl<F: Field> Field for PosedTree<F> {
    #[inline]
    fn sample(&self, point: Vec3) -> Sample {
        self.tree.sample(&self.boxes, |part, point| self.sample_part(part, point), point)
    }

    fn support(&self) -> Support {
        let all = self.supports.iter().fold(Support::EMPTY, |all, &s| all.with(s));
        // Without parts there is no box: a single point instead.
        if all.low.cmple(all.high).all() { all } else { Support { low: Vec3::ZERO, high: Vec3::ZERO } }
    }
}

#[cfg(test)]
mod tests;
