//! Flattening: what sublayers, inherits, variants, references, payloads and specializes say of a
//! prim, gathered into one layer in USD's order of strength.
//!
//! Differs in: class hierarchies reached through a reference are not searched for overrides in the
//! referring layer (implied inherits), and relocates, value clips and variable expressions are left
//! out. Characters as exported by modelling programs use none of these.

use super::Assets;
use super::layer::{Arc, Fault, Layer, Prim, ROOT};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Arcs on one prim. Production shots have some tens.
const MOST_SITES: usize = 256;
/// Arcs within arcs. A prop in a set in a shot with its own rig has some ten.
const DEEPEST_ARC: usize = 32;
/// Layers in all. A feature-film shot has some hundreds.
const MOST_LAYERS: usize = 1000;

/// A layer and the weaker ones below it.
struct Stack {
    layers: Vec<Rc<Layer>>,
    /// `time in the strongest = scale * time + offset`, per layer.
    times: Vec<(f64, f64)>,
    /// Where relative assets of each layer start from.
    places: Vec<String>,
}

/// A prim of a layer stack that has opinions about a prim of the scene.
#[derive(Clone)]
struct Site {
    stack: usize,
    /// The prim in each layer of the stack.
    prims: Vec<Option<usize>>,
    /// Prefixes of the stack's paths and what they are in the scene.
    paths: Rc<Vec<(String, String)>>,
    time: (f64, f64),
    /// Arcs followed to get here.
    depth: usize,
}

/// Flattens `root`, fetching other layers from `assets`. `place` is where `root` lies.
pub fn flatten(root: Layer, place: String, assets: &Assets) -> Result<Layer, Fault> {
    let has_arcs = |p: &Prim| {
        let arcs = [&p.inherits, &p.references, &p.payloads, &p.specializes];
        !p.variants.is_empty() || arcs.iter().any(|list| !list.is_empty())
    };
    if root.sublayers.is_empty() && !root.prims.iter().any(has_arcs) {
        return Ok(root);
    }
    let mut composer = Composer {
        assets,
        stacks: Vec::new(),
        stack_of_place: BTreeMap::new(),
        layer_count: 0,
        scene: Layer { metadata: root.metadata.clone(), left_out: root.left_out.clone(), ..Layer::default() },
    };
    composer.add_stack(root, place);
    composer.compose()?;
    Ok(composer.scene)
}

struct Composer<'a> {
    assets: &'a Assets<'a>,
    stacks: Vec<Stack>,
    stack_of_place: BTreeMap<String, Option<usize>>,
    layer_count: usize,
    scene: Layer,
}

/// Inner time map first, then outer.
fn chain(outer: (f64, f64), inner: (f64, f64)) -> (f64, f64) {
    (outer.0 + outer.1 * inner.0, outer.1 * inner.1)
}

impl Composer<'_> {
    /// Gathers the sublayers of `layer`, depth first.
    fn add_stack(&mut self, layer: Layer, place: String) -> usize {
        let mut stack = Stack { layers: Vec::new(), times: Vec::new(), places: Vec::new() };
        let mut pending = vec![(layer, place, (0.0, 1.0))];
        while let Some((layer, place, time)) = pending.pop() {
            self.layer_count += 1;
            if self.layer_count > MOST_LAYERS {
                self.scene.leave_out("layers beyond the first 1000");
                break;
            }
            for arc in layer.sublayers.iter().rev() {
                match self.assets.load(&place, &arc.asset) {
                    Some((sublayer, sublayer_place)) if !stack.places.contains(&sublayer_place) => {
                        pending.push((sublayer, sublayer_place, chain(time, (arc.offset, arc.scale))));
                    }
                    Some(_) => self.scene.leave_out("sublayers that lead back to themselves"),
                    None => self.scene.leave_out(format!("missing sublayer {}", arc.asset)),
                }
            }
            stack.layers.push(Rc::new(layer));
            stack.places.push(place);
            stack.times.push(time);
        }
        self.stacks.push(stack);
        self.stacks.len() - 1
    }

    fn compose(&mut self) -> Result<(), Fault> {
        let root = Site {
            stack: 0,
            prims: vec![Some(ROOT); self.stacks[0].layers.len()],
            paths: Rc::new(vec![(String::new(), String::new())]),
            time: (0.0, 1.0),
            depth: 0,
        };
        let mut pending = vec![(ROOT, vec![root])];
        while let Some((prim, sites)) = pending.pop() {
            let sites = self.expand(prim, sites)?;
            for site in &sites {
                self.merge(prim, site);
            }
            if self.scene.prims[prim].active == Some(false) {
                continue;
            }
            let mut names: Vec<String> = Vec::new();
            for (_, layer, source) in self.opinions(&sites) {
                for &child in &layer.prims[source].children {
                    names.push(layer.prims[child].name.clone());
                }
            }
            let known = self.scene.prims.len();
            for name in names {
                self.scene.child(prim, &name);
            }
            let most = 10_000
                + 16 * self.stacks.iter().flat_map(|s| &s.layers).map(|l| l.prims.len()).sum::<usize>();
            if self.scene.prims.len() > most {
                return Err(Fault::broken(self.scene.path(prim), "is composed of itself"));
            }
            for child in known..self.scene.prims.len() {
                let name = self.scene.prims[child].name.clone();
                let below = sites.iter().filter_map(|site| self.site_below(site, &name)).collect();
                pending.push((child, below));
            }
        }
        Ok(())
    }

    /// Every prim that has opinions, strongest first.
    fn opinions<'b>(&self, sites: &'b [Site]) -> Vec<(&'b Site, Rc<Layer>, usize)> {
        let of_site = |site: &'b Site| {
            let layers = self.stacks[site.stack].layers.iter().zip(&site.prims);
            layers.filter_map(move |(layer, prim)| Some((site, layer.clone(), (*prim)?))).collect::<Vec<_>>()
        };
        sites.iter().flat_map(of_site).collect()
    }

    fn site_below(&self, site: &Site, name: &str) -> Option<Site> {
        let layers = self.stacks[site.stack].layers.iter().zip(&site.prims);
        let prims: Vec<_> =
            layers.map(|(layer, prim)| layer.prims[(*prim)?].child_by_name.get(name).copied()).collect();
        prims.iter().any(Option::is_some).then(|| Site { prims, ..site.clone() })
    }

    /// Adds, after each site, the sites its arcs lead to.
    fn expand(&mut self, prim: usize, sites: Vec<Site>) -> Result<Vec<Site>, Fault> {
        let mut expanded: Vec<Site> = Vec::new();
        let mut pending: Vec<Site> = sites.into_iter().rev().collect();
        let mut selections: BTreeMap<String, String> = BTreeMap::new();
        while let Some(site) = pending.pop() {
            if expanded.len() == MOST_SITES || site.depth > DEEPEST_ARC {
                return Err(Fault::broken(
                    self.scene.path(prim),
                    "refers to itself, or has more than 256 arcs or 32 within one another",
                ));
            }
            let opinions = self.opinions(std::slice::from_ref(&site));
            let mut weaker = Vec::new();
            for (_, layer, source) in &opinions {
                for (set, name) in &layer.prims[*source].selections {
                    selections.entry(set.clone()).or_insert_with(|| name.clone());
                }
            }
            let lists: [fn(&Prim) -> &[Arc]; 4] =
                [|p| &p.inherits, |p| &p.references, |p| &p.payloads, |p| &p.specializes];
            for (strength, list) in lists.into_iter().enumerate() {
                for (l, source) in site.prims.iter().enumerate() {
                    let Some(source) = source else { continue };
                    let layer = self.stacks[site.stack].layers[l].clone();
                    for arc in list(&layer.prims[*source]) {
                        weaker.extend(self.follow(prim, &site, l, *source, arc));
                    }
                }
                if strength == 0 {
                    // Variants are weaker than inherits and stronger than references.
                    weaker.extend(self.variant_sites(&site, &selections));
                }
            }
            expanded.push(site);
            pending.extend(weaker.into_iter().rev());
        }
        Ok(expanded)
    }

    fn variant_sites(&self, site: &Site, selections: &BTreeMap<String, String>) -> Vec<Site> {
        let mut sites = Vec::new();
        for (l, source) in site.prims.iter().enumerate() {
            let Some(source) = source else { continue };
            for variant in &self.stacks[site.stack].layers[l].prims[*source].variants {
                if selections.get(&variant.set) == Some(&variant.name) {
                    let mut prims = vec![None; site.prims.len()];
                    prims[l] = Some(variant.prim);
                    sites.push(Site { prims, ..site.clone() });
                }
            }
        }
        sites
    }

    /// The site an arc authored in layer `l` of `site` on its prim `source` leads to.
    fn follow(&mut self, prim: usize, site: &Site, l: usize, source: usize, arc: &Arc) -> Option<Site> {
        let stack =
            if arc.asset.is_empty() { Some(site.stack) } else { self.stack_at(site.stack, l, &arc.asset) };
        let Some(stack) = stack else {
            self.scene.leave_out(format!("missing file {}", arc.asset));
            return None;
        };
        let layers = &self.stacks[stack].layers;
        let target = if arc.prim.is_empty() {
            format!("/{}", layers[0].metadata.get("defaultPrim").and_then(|v| v.text()).unwrap_or_default())
        } else if arc.prim.starts_with('/') {
            arc.prim.clone()
        } else {
            // Relative to the prim that says it.
            let here = &self.stacks[site.stack].layers[l];
            here.find(source, &arc.prim).map(|found| here.path(found)).unwrap_or_default()
        };
        let prims: Vec<_> = layers.iter().map(|layer| layer.find(ROOT, &target)).collect();
        if target == "/" || prims.iter().all(Option::is_none) {
            self.scene.leave_out(format!("missing prim {target}"));
            return None;
        }
        let mut paths = vec![(target, self.scene.path(prim))];
        if stack == site.stack {
            paths.extend(site.paths.iter().cloned());
        }
        let layer_time = self.stacks[site.stack].times[l];
        let time = chain(site.time, chain(layer_time, (arc.offset, arc.scale)));
        Some(Site { stack, prims, paths: Rc::new(paths), time, depth: site.depth + 1 })
    }

    fn stack_at(&mut self, stack: usize, l: usize, asset: &str) -> Option<usize> {
        let (layer, place) = {
            let anchor = &self.stacks[stack].places[l];
            let place = self.assets.place(anchor, asset);
            if let Some(known) = self.stack_of_place.get(&place) {
                return *known;
            }
            match self.assets.load(anchor, asset) {
                Some(found) => found,
                None => {
                    self.stack_of_place.insert(place, None);
                    return None;
                }
            }
        };
        let stack = self.add_stack(layer, place.clone());
        self.stack_of_place.insert(place, Some(stack));
        Some(stack)
    }

    /// Fills in what stronger sites leave out.
    fn merge(&mut self, prim: usize, site: &Site) {
        for (l, source) in site.prims.iter().enumerate() {
            let Some(source) = source else { continue };
            let layer = self.stacks[site.stack].layers[l].clone();
            let source = &layer.prims[*source];
            let (offset, scale) = chain(site.time, self.stacks[site.stack].times[l]);
            let into = &mut self.scene.prims[prim];
            if into.type_name.is_empty() {
                into.type_name.clone_from(&source.type_name);
            }
            into.is_defined |= source.is_defined;
            // A class inherited from does not make its heirs classes.
            into.is_class |= source.is_class && site.paths.len() == 1 && site.stack == 0;
            into.active = into.active.or(source.active);
            for (name, attribute) in &source.attributes {
                let known = into.attributes.entry(name.clone()).or_default();
                if known.type_name.is_empty() {
                    known.type_name.clone_from(&attribute.type_name);
                }
                if known.default.is_none() && known.samples.is_empty() {
                    known.default.clone_from(&attribute.default);
                    let moved = |(time, value): &(f64, _)| (offset + scale * time, Rc::clone(value));
                    known.samples = attribute.samples.iter().map(moved).collect();
                    known.sort_samples();
                }
                known.interpolation = known.interpolation.take().or_else(|| attribute.interpolation.clone());
                known.element_size = known.element_size.or(attribute.element_size);
            }
            for (name, targets) in &source.relationships {
                if !into.relationships.contains_key(name) {
                    let targets = targets.iter().map(|target| to_scene(&site.paths, target)).collect();
                    into.relationships.insert(name.clone(), targets);
                }
            }
        }
    }
}

/// A path of a site as one of the scene.
fn to_scene(paths: &[(String, String)], path: &str) -> String {
    for (from, to) in paths {
        if let Some(rest) = path.strip_prefix(from.as_str())
            && (rest.is_empty() || rest.starts_with(['/', '.']))
        {
            return format!("{to}{rest}");
        }
    }
    path.to_owned()
}
