//! From the specs of a crate file to prims.

use super::super::layer::{Arc, Attribute, Layer, ROOT, Value, Variant};
use super::super::looks::connection;
use super::cursor::Cursor;
use super::{
    ATTRIBUTE, CrateFile, PRIM, PSEUDO_ROOT, Parsed, RELATIONSHIP, Rep, Spec, VARIANT, broken, kind,
};
use std::collections::HashMap;
use std::rc::Rc;

/// Turns specs into prims.
pub(super) struct Builder<'a> {
    pub file: CrateFile<'a>,
    pub layer: Layer,
    /// Values already decoded, by representation: files store equal values once.
    pub cache: HashMap<u64, Rc<Value>>,
}

impl Builder<'_> {
    pub fn build(mut self) -> Parsed<Layer> {
        let specs = std::mem::take(&mut self.file.specs);
        let path_count = self.file.paths.len();
        let mut spec_of_path = vec![None; path_count];
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); path_count];
        self.file.budget.spend(path_count * 48)?;
        for (s, spec) in specs.iter().enumerate() {
            if let Some(slot) = spec_of_path.get_mut(spec.path) {
                *slot = Some(s);
            }
        }
        for (path, step) in self.file.paths.iter().enumerate() {
            if let Some(step) = step.filter(|step| !step.is_property && step.parent != path) {
                children[step.parent].push(path);
            }
        }
        let Some(root) = specs.iter().find(|spec| spec.kind == PSEUDO_ROOT) else {
            return Err(broken("has no root"));
        };
        let mut prim_of_path = vec![None; path_count];
        let mut pending = vec![(root.path, ROOT)];
        while let Some((path, prim)) = pending.pop() {
            let (Some(Some(spec)), Some(slot)) = (spec_of_path.get(path), prim_of_path.get_mut(path)) else {
                continue;
            };
            *slot = Some(prim);
            let order = self.prim(&specs[*spec], prim)?;
            let rank: HashMap<&str, usize> =
                order.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
            let mut below = Vec::new();
            for &child in &children[path] {
                let token = self.file.paths[child].map_or("", |step| self.file.token(step.token)).to_owned();
                let kind = spec_of_path[child].map(|s: usize| specs[s].kind);
                if kind == Some(PRIM) {
                    below.push((rank.get(token.as_str()).copied().unwrap_or(usize::MAX), child, token));
                } else if kind == Some(VARIANT) {
                    let inner = token.trim_start_matches('{').trim_end_matches('}');
                    let (set, name) = inner.split_once('=').unwrap_or((inner, ""));
                    let content = self.layer.prims.len();
                    self.layer.prims.push(Default::default());
                    let variant = Variant { set: set.to_owned(), name: name.to_owned(), prim: content };
                    self.layer.prims[prim].variants.push(variant);
                    pending.push((child, content));
                }
            }
            below.sort_unstable();
            for (_, child, name) in below {
                let child_prim = self.layer.child(prim, &name);
                pending.push((child, child_prim));
            }
        }
        for spec in specs.iter().filter(|spec| [ATTRIBUTE, RELATIONSHIP].contains(&spec.kind)) {
            let Some(Some(step)) = self.file.paths.get(spec.path).copied() else { continue };
            let Some(Some(prim)) = prim_of_path.get(step.parent).copied() else { continue };
            let name = self.file.token(step.token).to_owned();
            if spec.kind == ATTRIBUTE {
                let attribute = self.attribute(spec)?;
                let connected = self.targets(spec, "connectionPaths")?;
                let prim = &mut self.layer.prims[prim];
                if !connected.is_empty() {
                    prim.relationships.insert(connection(&name), connected);
                }
                prim.attributes.insert(name, attribute);
            } else {
                let targets = self.targets(spec, "targetPaths")?;
                self.layer.prims[prim].relationships.insert(name, targets);
            }
        }
        Ok(self.layer)
    }

    fn fields_of(&mut self, spec: &Spec) -> Parsed<Vec<(String, Rep)>> {
        let fields: Vec<_> = self.file.fields_of(spec).map(|(name, rep)| (name.to_owned(), rep)).collect();
        // Sets may be shared by any number of specs.
        self.file.budget.spend(fields.len() * size_of::<(String, Rep)>())?;
        Ok(fields)
    }

    /// Reads what a prim, variant or the root says of itself; returns the order of its children.
    fn prim(&mut self, spec: &Spec, prim: usize) -> Parsed<Vec<String>> {
        let mut order = Vec::new();
        for (name, rep) in self.fields_of(spec)? {
            let file = &mut self.file;
            match (name.as_str(), rep.kind()) {
                ("primChildren", _) => {
                    order = file.value(rep)?.unwrap_or(Value::Blocked).texts().to_vec();
                }
                ("specifier", _) => {
                    let specifier = file.value(rep)?.and_then(|value| value.number());
                    self.layer.prims[prim].is_defined = specifier != Some(1.0);
                    self.layer.prims[prim].is_class = specifier == Some(2.0);
                }
                ("typeName", _) => {
                    let type_name = file.value(rep)?.and_then(|value| value.text().map(str::to_owned));
                    self.layer.prims[prim].type_name = type_name.unwrap_or_default();
                }
                ("active", _) => {
                    self.layer.prims[prim].active =
                        file.value(rep)?.and_then(|v| v.number()).map(|n| n != 0.0);
                }
                ("references", kind::REFERENCE_LIST) => {
                    self.layer.prims[prim].references =
                        file.list(rep, |file, at| file.reference(at, false))?;
                }
                ("payload", kind::PAYLOAD_LIST) => {
                    self.layer.prims[prim].payloads = file.list(rep, |file, at| file.reference(at, true))?;
                }
                ("payload", kind::PAYLOAD) => {
                    let mut cursor = Cursor::new(file.bytes, rep.payload());
                    self.layer.prims[prim].payloads = vec![file.reference(&mut cursor, true)?];
                }
                ("inheritPaths" | "specializes", kind::PATH_LIST) => {
                    let arcs = file.list(rep, |file, at| Ok(Arc::internal(file.path(at.u32()?)?)))?;
                    let prim = &mut self.layer.prims[prim];
                    *if name == "specializes" { &mut prim.specializes } else { &mut prim.inherits } = arcs;
                }
                ("variantSelection", kind::SELECTIONS) => {
                    let mut cursor = Cursor::new(file.bytes, rep.payload());
                    for _ in 0..cursor.count()? {
                        let set = file.string(cursor.u32()?).to_owned();
                        let name = file.string(cursor.u32()?).to_owned();
                        self.layer.prims[prim].selections.insert(set, name);
                    }
                }
                ("subLayers", _) if prim == ROOT => {
                    let assets = file.value(rep)?.unwrap_or(Value::Blocked).texts().to_vec();
                    let arc = |asset| Arc { asset, ..Arc::internal(String::new()) };
                    self.layer.sublayers = assets.into_iter().map(arc).collect();
                }
                _ if prim == ROOT => {
                    if let Some(value) = file.value(rep)? {
                        self.layer.metadata.insert(name, value);
                    }
                }
                _ => {}
            }
        }
        Ok(order)
    }

    fn value(&mut self, rep: Rep) -> Parsed<Option<Rc<Value>>> {
        if let Some(known) = self.cache.get(&rep.0) {
            return Ok(Some(known.clone()));
        }
        let value = self.file.value(rep)?.map(Rc::new);
        if let Some(value) = &value {
            self.cache.insert(rep.0, value.clone());
        }
        Ok(value)
    }

    fn attribute(&mut self, spec: &Spec) -> Parsed<Attribute> {
        let mut attribute = Attribute::default();
        for (name, rep) in self.fields_of(spec)? {
            match name.as_str() {
                "default" => attribute.default = self.value(rep)?,
                "timeSamples" if rep.kind() == kind::TIME_SAMPLES => {
                    for (time, rep) in self.file.time_samples(rep)? {
                        if let Some(value) = self.value(rep)? {
                            attribute.samples.push((time, value));
                        }
                    }
                }
                "spline" => self.layer.leave_out("spline-animated attributes"),
                "typeName" | "interpolation" => {
                    let text = self.value(rep)?.and_then(|value| value.text().map(str::to_owned));
                    match name.as_str() {
                        "typeName" => attribute.type_name = text.unwrap_or_default(),
                        _ => attribute.interpolation = text,
                    }
                }
                "elementSize" => attribute.element_size = self.value(rep)?.and_then(|value| value.number()),
                _ => {}
            }
        }
        attribute.sort_samples();
        Ok(attribute)
    }

    /// The paths listed in a field.
    fn targets(&mut self, spec: &Spec, field: &str) -> Parsed<Vec<String>> {
        let mut targets = Vec::new();
        for (name, rep) in self.fields_of(spec)? {
            if name == field && rep.kind() == kind::PATH_LIST {
                targets = self.file.list(rep, |file, at| file.path(at.u32()?))?;
            }
        }
        Ok(targets)
    }
}
