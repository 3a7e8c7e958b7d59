//! What one USD layer says, whatever file it came from: a tree of prims with attributes and
//! relationships. Numbers of every width become `f64`, so that readers above need not care.

use glam::{DMat4, DQuat, DVec3};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Index of the pseudo-root in [`Layer::prims`].
pub const ROOT: usize = 0;

/// Why a layer could not be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What in the file.
    pub thing: String,
    /// What is wrong with it.
    pub problem: String,
    /// Whether the file is valid and merely not supported.
    pub unsupported: bool,
}

impl Fault {
    /// Content that breaks the format's rules.
    pub fn broken(thing: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { thing: thing.into(), problem: problem.into(), unsupported: false }
    }

    /// A feature we do not read.
    pub fn unsupported(feature: impl Into<String>) -> Self {
        Self { thing: feature.into(), problem: String::new(), unsupported: true }
    }
}

/// A value of any type; scalars are lists of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `None`: the opinion that there is no value.
    Blocked,
    /// Elements of `width` numbers each, back to back. Quaternions are w, x, y, z; matrices row by row.
    Numbers {
        /// Numbers per element.
        width: usize,
        /// All of them.
        values: Vec<f64>,
    },
    /// Strings, tokens or asset paths.
    Texts(Vec<String>),
}

impl Value {
    /// The numbers, or none.
    pub fn numbers(&self) -> &[f64] {
        match self {
            Value::Numbers { values, .. } => values,
            _ => &[],
        }
    }

    /// The strings, or none.
    pub fn texts(&self) -> &[String] {
        match self {
            Value::Texts(texts) => texts,
            _ => &[],
        }
    }

    /// Elements of exactly `N` numbers; none when the width differs.
    fn elements<const N: usize>(&self) -> impl ExactSizeIterator<Item = [f64; N]> + '_ {
        let values = match self {
            Value::Numbers { width, values } if *width == N => values.as_slice(),
            _ => &[],
        };
        values.as_chunks::<N>().0.iter().copied()
    }

    /// The first number.
    pub fn number(&self) -> Option<f64> {
        self.numbers().first().copied()
    }

    /// The first string.
    pub fn text(&self) -> Option<&str> {
        self.texts().first().map(String::as_str)
    }

    /// Pairs of numbers.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = [f64; 2]> + '_ {
        self.elements::<2>()
    }

    /// Triples of numbers.
    pub fn vectors(&self) -> impl ExactSizeIterator<Item = DVec3> + '_ {
        self.elements::<3>().map(DVec3::from_array)
    }

    /// Quaternions.
    pub fn quaternions(&self) -> impl ExactSizeIterator<Item = DQuat> + '_ {
        self.elements::<4>().map(|[w, x, y, z]| DQuat::from_xyzw(x, y, z, w))
    }

    /// Matrices for column vectors. USD writes rows for row vectors: the same 16 numbers in order.
    pub fn matrices(&self) -> impl ExactSizeIterator<Item = DMat4> + '_ {
        self.elements::<16>().map(|m| DMat4::from_cols_array(&m))
    }
}

/// An attribute of a prim.
#[derive(Clone, Debug, Default)]
pub struct Attribute {
    /// Value type as the file names it, such as `point3f[]`.
    pub type_name: String,
    /// Value when time plays no part.
    pub default: Option<Rc<Value>>,
    /// Values at time codes, ascending.
    pub samples: Vec<(f64, Rc<Value>)>,
    /// How a primvar spreads over the mesh.
    pub interpolation: Option<String>,
    /// Values per vertex of a primvar.
    pub element_size: Option<f64>,
}

impl Attribute {
    /// The value that stands for the attribute when nothing moves: the default, else the first sample.
    pub fn still(&self) -> Option<&Value> {
        let sample = self.samples.first().map(|(_, value)| value);
        self.default.as_ref().or(sample).map(Rc::as_ref).filter(|value| **value != Value::Blocked)
    }

    /// Sorts the samples and keeps the last of those at one time.
    pub fn sort_samples(&mut self) {
        self.samples.retain(|(time, _)| time.is_finite());
        self.samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.samples.reverse();
        self.samples.dedup_by(|a, b| a.0 == b.0);
        self.samples.reverse();
    }
}

/// A composition arc: other scene description that fills in what a prim does not say itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Arc {
    /// File, empty for the same layer.
    pub asset: String,
    /// Prim in that file, empty for its default prim.
    pub prim: String,
    /// `time here = scale * time there + offset`.
    pub offset: f64,
    /// See `offset`.
    pub scale: f64,
}

impl Arc {
    /// To a prim of the same layer.
    pub fn internal(prim: String) -> Self {
        Self { asset: String::new(), prim, offset: 0.0, scale: 1.0 }
    }
}

/// An alternative content of a prim.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The set it belongs to.
    pub set: String,
    /// Its name in the set.
    pub name: String,
    /// The prim that holds its content; outside the tree.
    pub prim: usize,
}

/// A prim: a named node of the scene.
#[derive(Clone, Debug, Default)]
pub struct Prim {
    /// Name within the parent.
    pub name: String,
    /// Schema, such as `Mesh`; may be empty.
    pub type_name: String,
    /// Whether it is a `class`, which only serves to be inherited from.
    pub is_class: bool,
    /// Whether anything defines it; a mere `over` says nothing on its own.
    pub is_defined: bool,
    /// `active = false` removes a prim and all below it.
    pub active: Option<bool>,
    /// The prim above; none for the pseudo-root and for contents of variants.
    pub parent: Option<usize>,
    /// The prims below, in the file's order.
    pub children: Vec<usize>,
    /// The same by name.
    pub child_by_name: BTreeMap<String, usize>,
    /// Attributes by name.
    pub attributes: BTreeMap<String, Attribute>,
    /// Targets of relationships by name, as written: absolute or relative to the prim.
    pub relationships: BTreeMap<String, Vec<String>>,
    /// `inherits`, then references, then payloads, then `specializes`, strongest first.
    pub inherits: Vec<Arc>,
    /// References, strongest first.
    pub references: Vec<Arc>,
    /// Payloads, strongest first.
    pub payloads: Vec<Arc>,
    /// `specializes`, strongest first.
    pub specializes: Vec<Arc>,
    /// Variant chosen in each set.
    pub selections: BTreeMap<String, String>,
    /// Variants of all sets.
    pub variants: Vec<Variant>,
}

/// A layer, or a scene flattened from several.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Prims; the first is the pseudo-root, parents come before children.
    pub prims: Vec<Prim>,
    /// Layer metadata with plain values: `upAxis`, `metersPerUnit`, ...
    pub metadata: BTreeMap<String, Value>,
    /// Weaker layers below this one, strongest first.
    pub sublayers: Vec<Arc>,
    /// Features found and left out.
    pub left_out: BTreeMap<String, usize>,
}

impl Default for Layer {
    fn default() -> Self {
        Self {
            prims: vec![Prim { is_defined: true, ..Prim::default() }],
            metadata: BTreeMap::new(),
            sublayers: Vec::new(),
            left_out: BTreeMap::new(),
        }
    }
}

impl Layer {
    /// The child of `parent` called `name`, made if there is none.
    pub fn child(&mut self, parent: usize, name: &str) -> usize {
        if let Some(&known) = self.prims[parent].child_by_name.get(name) {
            return known;
        }
        let child = self.prims.len();
        self.prims.push(Prim { name: name.to_owned(), parent: Some(parent), ..Prim::default() });
        self.prims[parent].children.push(child);
        self.prims[parent].child_by_name.insert(name.to_owned(), child);
        child
    }

    /// Notes that `feature` was met and left out.
    pub fn leave_out(&mut self, feature: impl Into<String>) {
        *self.left_out.entry(feature.into()).or_default() += 1;
    }

    /// The prim at `path`, absolute or relative to prim `from`; a property's path gives its prim.
    pub fn find(&self, from: usize, path: &str) -> Option<usize> {
        let (mut at, rest) = match path.strip_prefix('/') {
            Some(rest) => (ROOT, rest),
            None => (from, path),
        };
        for name in rest.split('/').filter(|name| !name.is_empty() && *name != ".") {
            if name == ".." {
                at = self.prims[at].parent?;
                continue;
            }
            // A property is named after a dot; variant selections stand in braces.
            let name = name.split(['.', '{']).next().unwrap_or_default();
            at = *self.prims[at].child_by_name.get(name)?;
        }
        Some(at)
    }

    /// The prim's path; cut above the thousandth name, which no arc or message needs.
    pub fn path(&self, prim: usize) -> String {
        const LONGEST: usize = 1000;
        let mut names = Vec::new();
        let mut at = prim;
        while let Some(parent) = self.prims[at].parent.filter(|_| names.len() < LONGEST) {
            names.push(self.prims[at].name.as_str());
            at = parent;
        }
        names.iter().rev().fold(String::new(), |path, name| path + "/" + name)
    }

    /// `attribute` of the prim.
    pub fn attribute(&self, prim: usize, name: &str) -> Option<&Attribute> {
        self.prims[prim].attributes.get(name)
    }

    /// The unmoving value of an attribute of the prim.
    pub fn still(&self, prim: usize, name: &str) -> Option<&Value> {
        self.attribute(prim, name)?.still()
    }

    /// The prims a relationship points at, those that exist.
    pub fn targets(&self, prim: usize, name: &str) -> Vec<usize> {
        let targets = self.prims[prim].relationships.get(name);
        targets.into_iter().flatten().filter_map(|path| self.find(prim, path)).collect()
    }

    /// A number of the layer's metadata.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.metadata.get(name)?.number().filter(|n| n.is_finite())
    }

    /// The nearest of the prim and those above it for which `found` gives something.
    pub fn nearest<T>(&self, prim: usize, found: impl Fn(usize) -> Option<T>) -> Option<T> {
        let mut at = Some(prim);
        while let Some(prim) = at {
            if let Some(thing) = found(prim) {
                return Some(thing);
            }
            at = self.prims[prim].parent;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_followed_from_the_root_and_from_a_prim() {
        let mut layer = Layer::default();
        let root = layer.child(ROOT, "Root");
        let skeleton = layer.child(root, "Skeleton");
        let animation = layer.child(skeleton, "Animation");
        assert_eq!(layer.find(ROOT, "/Root/Skeleton/Animation"), Some(animation));
        assert_eq!(layer.find(skeleton, "Animation"), Some(animation));
        assert_eq!(layer.find(skeleton, "../Skeleton/Animation.rotations"), Some(animation));
        assert_eq!(layer.find(ROOT, "/Root/Nothing"), None);
        assert_eq!(layer.find(ROOT, "../.."), None);
        assert_eq!(layer.path(animation), "/Root/Skeleton/Animation");
    }
}
