//! The XML tree with its ids, and the pieces every part of COLLADA is made of: sources and inputs.

use roxmltree::{Node, NodeId};
use std::collections::HashMap;

/// A parsed file.
pub struct Document<'a> {
    xml: &'a roxmltree::Document<'a>,
    /// Only for look-ups; the first of equal ids counts.
    element_of_id: HashMap<&'a str, NodeId>,
}

impl<'a> Document<'a> {
    /// Indexes the ids.
    pub fn new(xml: &'a roxmltree::Document<'a>) -> Self {
        let mut element_of_id = HashMap::new();
        for element in xml.descendants() {
            if let Some(id) = element.attribute("id") {
                element_of_id.entry(id).or_insert(element.id());
            }
        }
        Self { xml, element_of_id }
    }

    /// The outermost element.
    pub fn root(&self) -> Node<'a, 'a> {
        self.xml.root_element()
    }

    /// The element with this id.
    pub fn by_id(&self, id: &str) -> Option<Node<'a, 'a>> {
        self.xml.get_node(*self.element_of_id.get(id)?)
    }

    /// The element an attribute such as `source="#id"` refers to.
    pub fn referred(&self, element: Node, attribute: &str) -> Option<Node<'a, 'a>> {
        let reference = element.attribute(attribute)?;
        self.by_id(reference.strip_prefix('#').unwrap_or(reference))
    }
}

/// The first child element called `tag`.
pub fn child<'a>(element: Node<'a, 'a>, tag: &str) -> Option<Node<'a, 'a>> {
    element.children().find(|c| is(*c, tag))
}

/// The child elements called `tag`.
pub fn children<'a>(element: Node<'a, 'a>, tag: &str) -> impl Iterator<Item = Node<'a, 'a>> {
    element.children().filter(move |c| is(*c, tag))
}

/// Whether an element is called `tag`, in whatever namespace.
pub fn is(element: Node, tag: &str) -> bool {
    element.is_element() && element.tag_name().name() == tag
}

/// What users call an element.
pub fn name_of(element: Node) -> String {
    let name = ["name", "id", "sid"].iter().find_map(|key| element.attribute(*key).filter(|n| !n.is_empty()));
    name.unwrap_or_default().to_owned()
}

/// The words of an element's text.
pub fn words<'a>(element: Node<'a, 'a>) -> impl Iterator<Item = &'a str> {
    element.children().filter_map(|c| c.text().filter(|_| c.is_text())).flat_map(str::split_ascii_whitespace)
}

/// The numbers of an element's text; a word that is not a number becomes NaN.
pub fn numbers(element: Node) -> Vec<f64> {
    let text = element.children().filter_map(|c| c.text().filter(|_| c.is_text()));
    text.flat_map(str::split_ascii_whitespace).map(|word| word.parse().unwrap_or(f64::NAN)).collect()
}

/// The integers of an element's text; a word that is not an integer becomes the smallest.
pub fn integers(element: Node) -> Vec<i64> {
    let text = element.children().filter_map(|c| c.text().filter(|_| c.is_text()));
    text.flat_map(str::split_ascii_whitespace).map(|word| word.parse().unwrap_or(i64::MIN)).collect()
}

/// An attribute as a number.
pub fn attribute_number(element: Node, name: &str) -> Option<usize> {
    element.attribute(name)?.trim().parse().ok()
}

/// A list of tuples, as its accessor shows it.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Numbers of all tuples, back to back; NaN where the file has none.
    pub values: Vec<f64>,
    /// Names, when the source holds names instead.
    pub names: Vec<String>,
    /// Numbers per tuple.
    pub width: usize,
}

impl Source {
    /// Number of tuples.
    pub fn len(&self) -> usize {
        if self.names.is_empty() { self.values.len() / self.width.max(1) } else { self.names.len() }
    }

    /// Tuple `i`.
    pub fn get(&self, i: usize) -> Option<&[f64]> {
        if self.width == 0 {
            return None;
        }
        self.values.get(i.checked_mul(self.width)?..i.checked_add(1)?.checked_mul(self.width)?)
    }

    /// Reads a `source` element.
    pub fn read(document: &Document, element: Node<'_, '_>) -> Self {
        let id = element.attribute("id").unwrap_or_default();
        let Some(element) = document.by_id(id) else { return Self::default() };
        let accessor = child(element, "technique_common").and_then(|t| child(t, "accessor"));
        let referred = accessor.and_then(|a| document.referred(a, "source"));
        let own = element.children().find(|c| c.is_element() && c.tag_name().name().ends_with("_array"));
        let Some(array) = referred.or(own) else { return Self::default() };
        if matches!(array.tag_name().name(), "Name_array" | "IDREF_array" | "SIDREF_array") {
            return Self { names: words(array).map(str::to_owned).collect(), width: 1, ..Self::default() };
        }
        let all = numbers(array);
        let stride = accessor.and_then(|a| attribute_number(a, "stride")).unwrap_or(1).max(1);
        let offset = accessor.and_then(|a| attribute_number(a, "offset")).unwrap_or(0);
        // Parameters without a name are there to be skipped, unless none has one.
        let parameters: Vec<Node> = accessor.map_or(Vec::new(), |a| children(a, "param").collect());
        let mut places: Vec<usize> = (0..parameters.len().min(stride))
            .filter(|&p| parameters[p].attribute("name").is_some_and(|name| !name.is_empty()))
            .collect();
        if places.is_empty() || parameters.len() == 1 {
            places = (0..stride.min(all.len())).collect();
        }
        let available = all.len().saturating_sub(offset).div_ceil(stride);
        let stated = accessor.and_then(|a| attribute_number(a, "count")).unwrap_or(available);
        let mut values = Vec::new();
        for i in 0..stated.min(available) {
            values
                .extend(places.iter().map(|p| all.get(offset + i * stride + p).copied().unwrap_or(f64::NAN)));
        }
        Self { values, names: Vec::new(), width: places.len() }
    }
}

/// An `input`: what a list means.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// `POSITION`, `JOINT`, ...
    pub semantic: &'a str,
    /// The element it refers to.
    pub source: Node<'a, 'a>,
    /// Place among interleaved indices.
    pub offset: usize,
    /// Which of several of the same meaning.
    pub set: usize,
}

/// The inputs of an element, those that lead somewhere.
pub fn inputs<'a>(document: &Document<'a>, element: Node<'a, 'a>) -> Vec<Input<'a>> {
    children(element, "input")
        .filter_map(|input| {
            Some(Input {
                semantic: input.attribute("semantic")?,
                source: document.referred(input, "source")?,
                offset: attribute_number(input, "offset").unwrap_or(0),
                set: attribute_number(input, "set").unwrap_or(0),
            })
        })
        .collect()
}
