//! The text form of USD (`.usda`), read in one pass without recursion.
//!
//! Newlines separate nothing here: every statement is recognised by its first words, so they are
//! skipped like blanks, and files written in one line read as well.

use super::layer::{Arc, Attribute, Fault, Layer, ROOT, Value, Variant};
use super::looks::connection;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Brackets within one value: an array of matrices needs three.
const DEEPEST_VALUE: usize = 8;

type Parsed<T> = Result<T, Fault>;

/// Reads the layer.
pub fn parse(bytes: &[u8]) -> Result<Layer, Fault> {
    if !bytes.starts_with(b"#usda") {
        return Err(Fault::broken("first line", "is not #usda"));
    }
    let mut reader = Reader { bytes, at: 0, layer: Layer::default() };
    reader.layer()?;
    for prim in &mut reader.layer.prims {
        prim.attributes.values_mut().for_each(Attribute::sort_samples);
    }
    Ok(reader.layer)
}

/// An open brace.
enum Open {
    /// Of a prim or a variant: statements follow.
    Prim(usize),
    /// Of the named variant set of a prim: variants follow.
    VariantSet(usize, String),
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    layer: Layer,
}

impl Reader<'_> {
    fn fault(&self, problem: &str) -> Fault {
        let read = &self.bytes[..self.at.min(self.bytes.len())];
        let line = 1 + read.iter().filter(|&&b| b == b'\n').count();
        Fault::broken(format!("line {line}"), problem)
    }

    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips blanks and comments, and gives the next byte.
    fn next(&mut self) -> Option<u8> {
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' => self.at += 1,
                b'#' => {
                    while self.byte().is_some_and(|b| b != b'\n') {
                        self.at += 1;
                    }
                }
                _ => return Some(byte),
            }
        }
        None
    }

    /// Skips `wanted` if it is next.
    fn take(&mut self, wanted: u8) -> bool {
        let found = self.next() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: u8) -> Parsed<()> {
        if self.take(wanted) {
            return Ok(());
        }
        Err(self.fault(&format!("expected {:?}", char::from(wanted))))
    }

    /// A name, number or keyword: everything up to a blank or a mark.
    fn word(&mut self) -> Parsed<String> {
        self.next();
        let start = self.at;
        while self.byte().is_some_and(|b| b.is_ascii_alphanumeric() || b"_:.+-!".contains(&b) || b >= 0x80) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.fault("expected a word"));
        }
        Ok(String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned())
    }

    /// Text up to `end`, which is skipped.
    fn until(&mut self, end: &[u8]) -> Parsed<String> {
        let start = self.at;
        while self.at < self.bytes.len() {
            if self.bytes[self.at..].starts_with(end) {
                let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
                self.at += end.len();
                return Ok(text);
            }
            // A backslash keeps the quote after it from ending the string.
            self.at += if self.bytes[self.at] == b'\\' && !b">@".contains(&end[0]) { 2 } else { 1 };
        }
        Err(self.fault("a string, path or asset does not end"))
    }

    /// A quoted string, an `@asset@` or a `<path>`.
    fn quoted(&mut self) -> Parsed<String> {
        let Some(mark) = self.next() else { return Err(self.fault("expected a string")) };
        let tripled = [mark; 3];
        let end: &[u8] = match mark {
            b'<' => b">",
            b'"' | b'\'' | b'@' if self.bytes[self.at..].starts_with(&tripled) => &tripled,
            b'"' | b'\'' | b'@' => &tripled[..1],
            _ => return Err(self.fault("expected a string")),
        };
        self.at += end.len();
        let text = self.until(end)?;
        // Escapes matter little for names; the two that change a token are undone.
        Ok(if text.contains('\\') { text.replace("\\\"", "\"").replace("\\\\", "\\") } else { text })
    }

    /// Skips brackets with everything inside.
    fn skip_brackets(&mut self) -> Parsed<()> {
        let mut depth = 0usize;
        loop {
            match self.next() {
                Some(b'{' | b'(' | b'[') => depth += 1,
                Some(b'}' | b')' | b']') => depth = depth.saturating_sub(1),
                Some(b'"' | b'\'' | b'@' | b'<') => {
                    self.quoted()?;
                    continue;
                }
                Some(_) => {}
                None => return Err(self.fault("a bracket is not closed")),
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Any value but a dictionary, which is skipped.
    fn value(&mut self) -> Parsed<Value> {
        let (mut numbers, mut texts) = (Vec::new(), Vec::new());
        let mut open = Vec::new();
        let mut elements = 0usize;
        let mut blocked = false;
        loop {
            let Some(byte) = self.next() else { return Err(self.fault("a value is missing")) };
            match byte {
                b'(' | b'[' => {
                    self.at += 1;
                    open.push(byte);
                    if open.len() > DEEPEST_VALUE {
                        return Err(self.fault("a value has too many brackets"));
                    }
                    continue;
                }
                b')' | b']' if !open.is_empty() => {
                    self.at += 1;
                    open.pop();
                    if open.is_empty() {
                        break;
                    }
                }
                b',' if !open.is_empty() => {
                    self.at += 1;
                    continue;
                }
                b'{' => self.skip_brackets()?,
                b'"' | b'\'' | b'@' | b'<' => {
                    let text = self.quoted()?;
                    // An asset may be followed by a prim's path.
                    if byte == b'@' && self.byte() == Some(b'<') {
                        self.quoted()?;
                    }
                    texts.push(text);
                }
                _ => {
                    let word = self.word()?;
                    match word.as_str() {
                        "None" => blocked = open.is_empty(),
                        "true" | "True" => numbers.push(1.0),
                        "false" | "False" => numbers.push(0.0),
                        // Rust's own spelling of inf and nan is USD's.
                        _ => match word.parse::<f64>() {
                            Ok(number) => numbers.push(number),
                            Err(_) => texts.push(word),
                        },
                    }
                }
            }
            match open.len() {
                0 => break,
                1 if open[0] == b'[' => elements += 1,
                _ => {}
            }
        }
        if blocked {
            return Ok(Value::Blocked);
        }
        if numbers.is_empty() {
            return Ok(Value::Texts(texts));
        }
        let width = numbers.len().checked_div(elements).unwrap_or(numbers.len());
        Ok(Value::Numbers { width: width.max(1), values: numbers })
    }

    /// References, payloads or sublayers: one or a list.
    fn arcs(&mut self) -> Parsed<Vec<Arc>> {
        let mut arcs = Vec::new();
        let list = self.take(b'[');
        loop {
            match self.next() {
                Some(b'@' | b'<') => {
                    let asset = if self.next() == Some(b'@') { self.quoted()? } else { String::new() };
                    let prim = if self.next() == Some(b'<') { self.quoted()? } else { String::new() };
                    let mut arc = Arc { asset, prim, offset: 0.0, scale: 1.0 };
                    if self.take(b'(') {
                        while !self.take(b')') {
                            let key = self.word()?;
                            if key == "dictionary" {
                                self.word()?;
                            }
                            self.expect(b'=')?;
                            let value = self.value()?;
                            match (key.as_str(), value.number()) {
                                ("offset", Some(n)) => arc.offset = n,
                                ("scale", Some(n)) => arc.scale = n,
                                _ => {}
                            }
                        }
                    }
                    arcs.push(arc);
                }
                Some(b',') if list => self.at += 1,
                Some(b']') if list => {
                    self.at += 1;
                    return Ok(arcs);
                }
                _ if list => return Err(self.fault("expected @asset@ or <path>")),
                _ => {
                    self.value()?; // None
                }
            }
            if !list {
                return Ok(arcs);
            }
        }
    }

    /// `{ string set = "selection" ... }`
    fn selections(&mut self) -> Parsed<BTreeMap<String, String>> {
        let mut selections = BTreeMap::new();
        self.expect(b'{')?;
        while !self.take(b'}') {
            self.word()?;
            let set = if matches!(self.next(), Some(b'"' | b'\'')) { self.quoted()? } else { self.word()? };
            self.expect(b'=')?;
            selections.insert(set, self.quoted()?);
            self.take(b',');
        }
        Ok(selections)
    }

    /// Metadata in parentheses: `on_entry(reader, list operation, key)` reads the value after `=`.
    fn metadata(&mut self, mut on_entry: impl FnMut(&mut Self, &str, &str) -> Parsed<()>) -> Parsed<()> {
        if !self.take(b'(') {
            return Ok(());
        }
        while !self.take(b')') {
            match self.next() {
                Some(b'"' | b'\'') => {
                    self.quoted()?;
                }
                Some(b',') => self.at += 1,
                _ => {
                    let mut operation = String::new();
                    let mut key = self.word()?;
                    if ["prepend", "append", "add", "delete", "reorder"].contains(&key.as_str()) {
                        operation = std::mem::replace(&mut key, self.word()?);
                    }
                    self.expect(b'=')?;
                    on_entry(self, &operation, &key)?;
                }
            }
        }
        Ok(())
    }

    fn prim_metadata(&mut self, prim: usize) -> Parsed<()> {
        self.metadata(|reader, operation, key| {
            match key {
                "references" | "payload" | "inherits" | "specializes" => {
                    let arcs = reader.arcs()?;
                    let prim = &mut reader.layer.prims[prim];
                    let list = match key {
                        "references" => &mut prim.references,
                        "payload" => &mut prim.payloads,
                        "inherits" => &mut prim.inherits,
                        _ => &mut prim.specializes,
                    };
                    if operation != "delete" && operation != "reorder" {
                        list.extend(arcs);
                    }
                }
                "variants" => reader.layer.prims[prim].selections = reader.selections()?,
                "active" => reader.layer.prims[prim].active = reader.value()?.number().map(|n| n != 0.0),
                _ => {
                    reader.value()?;
                }
            }
            Ok(())
        })
    }

    fn layer(&mut self) -> Parsed<()> {
        self.metadata(|reader, _, key| {
            if key == "subLayers" {
                reader.layer.sublayers = reader.arcs()?;
            } else {
                let value = reader.value()?;
                reader.layer.metadata.insert(key.to_owned(), value);
            }
            Ok(())
        })?;
        let mut open = vec![Open::Prim(ROOT)];
        while let Some(innermost) = open.last() {
            if self.next().is_none() {
                return if open.len() == 1 { Ok(()) } else { Err(self.fault("a brace is not closed")) };
            }
            if open.len() > 1 && self.take(b'}') {
                open.pop();
                continue;
            }
            match innermost {
                Open::Prim(prim) => {
                    if let Some(inner) = self.statement(*prim)? {
                        open.push(inner);
                    }
                }
                Open::VariantSet(prim, set) => {
                    let (prim, set) = (*prim, set.clone());
                    let name = self.quoted()?;
                    let content = self.layer.prims.len();
                    self.layer.prims.push(Default::default());
                    self.layer.prims[prim].variants.push(Variant { set, name, prim: content });
                    self.prim_metadata(content)?;
                    self.expect(b'{')?;
                    open.push(Open::Prim(content));
                }
            }
        }
        Ok(())
    }

    /// One statement in the braces of `prim`; returns what it opens.
    fn statement(&mut self, prim: usize) -> Parsed<Option<Open>> {
        let mut word = self.word()?;
        let mut operation = String::new();
        while ["custom", "uniform", "varying", "config", "prepend", "append", "add", "delete", "reorder"]
            .contains(&word.as_str())
        {
            operation = std::mem::replace(&mut word, self.word()?);
        }
        match word.as_str() {
            "def" | "over" | "class" => {
                let quote = |byte| matches!(byte, Some(b'"' | b'\''));
                let type_name = if quote(self.next()) { String::new() } else { self.word()? };
                let name = self.quoted()?;
                let child = self.layer.child(prim, &name);
                let entry = &mut self.layer.prims[child];
                entry.is_defined |= word != "over";
                entry.is_class |= word == "class";
                if !type_name.is_empty() {
                    entry.type_name = type_name;
                }
                self.prim_metadata(child)?;
                self.expect(b'{')?;
                Ok(Some(Open::Prim(child)))
            }
            "variantSet" => {
                let set = self.quoted()?;
                self.expect(b'=')?;
                self.expect(b'{')?;
                Ok(Some(Open::VariantSet(prim, set)))
            }
            "rel" => {
                let name = self.word()?;
                let targets = if self.take(b'=') { self.value()?.texts().to_vec() } else { Vec::new() };
                if operation != "delete" && operation != "reorder" {
                    self.layer.prims[prim].relationships.entry(name).or_default().extend(targets);
                }
                self.metadata(|reader, _, _| reader.value().map(|_| ()))?;
                Ok(None)
            }
            _ if operation == "reorder" => {
                self.expect(b'=')?;
                self.value()?;
                Ok(None)
            }
            _ => {
                if self.take(b'[') {
                    self.expect(b']')?;
                    word += "[]";
                }
                self.attribute(prim, word)?;
                Ok(None)
            }
        }
    }

    fn attribute(&mut self, prim: usize, type_name: String) -> Parsed<()> {
        let full_name = self.word()?;
        let (name, field) = full_name.split_once('.').unwrap_or((&full_name, ""));
        let mut read = Attribute { type_name, ..Attribute::default() };
        if self.take(b'=') {
            match field {
                "" => read.default = Some(Rc::new(self.value()?)),
                "timeSamples" => {
                    self.expect(b'{')?;
                    while !self.take(b'}') {
                        let time = self.number_before_colon()?;
                        read.samples.push((time, Rc::new(self.value()?)));
                        self.take(b',');
                    }
                }
                "connect" => {
                    let targets = self.value()?.texts().to_vec();
                    self.layer.prims[prim].relationships.entry(connection(name)).or_default().extend(targets);
                }
                "spline" => {
                    self.skip_brackets()?;
                    self.layer.leave_out("spline-animated attributes");
                }
                _ => {
                    self.value()?;
                }
            }
        }
        self.metadata(|reader, _, key| {
            let value = reader.value()?;
            match key {
                "interpolation" => read.interpolation = value.text().map(str::to_owned),
                "elementSize" => read.element_size = value.number(),
                _ => {}
            }
            Ok(())
        })?;
        let known = self.layer.prims[prim].attributes.entry(name.to_owned()).or_default();
        known.type_name = read.type_name;
        known.default = read.default.or(known.default.take());
        known.interpolation = read.interpolation.or(known.interpolation.take());
        known.element_size = read.element_size.or(known.element_size);
        if !read.samples.is_empty() {
            known.samples = read.samples;
        }
        Ok(())
    }

    /// The time code of a sample. The colon counts as part of a word elsewhere.
    fn number_before_colon(&mut self) -> Parsed<f64> {
        let word = self.word()?;
        let number = word.strip_suffix(':').unwrap_or(&word);
        if number.len() == word.len() {
            self.expect(b':')?;
        }
        number.parse().map_err(|_| self.fault("a time code is not a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"#usda 1.0
(
    "A comment with a ) in it"
    upAxis = "Z"
    metersPerUnit = 0.01
    customLayerData = { dictionary a = { string b = "}" } }
    subLayers = [ @./anim.usda@ (offset = 1; scale = 2), @b.usda@ ]
)
def Xform "Root" ( prepend references = @body.usd@</Body> variants = { string look = "red" }
    active = false )
{
    # a comment with a }
    custom uniform token[] xformOpOrder = ["xformOp:translate", '!invert!xformOp:translate']
    double3 xformOp:translate.timeSamples = { 2: (1, 2, 3), 1.5: None, -1 : (0, 0, inf), }
    matrix4d[] m = [((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (5, 0, 0, 1))] (elementSize = 3)
    prepend rel skel:skeleton = [</A>, <B>]
    token outputs:surface.connect = </Mat.out>
    float declared
    reorder nameChildren = ["b", "a"]
    variantSet "look" = { "red" { def "Inner" { int n = 1 } } "blue" { } }
    over "Child" { texCoord2f[] primvars:st = [(0, 1)] ( interpolation = "vertex" ) }
}
"#;

    #[test]
    fn every_statement_of_the_language_is_understood() {
        let layer = parse(SAMPLE.as_bytes()).unwrap();
        assert_eq!(layer.metadata["upAxis"].text(), Some("Z"));
        assert_eq!(
            layer.sublayers[0],
            Arc { asset: "./anim.usda".into(), prim: String::new(), offset: 1.0, scale: 2.0 }
        );
        assert_eq!(layer.sublayers.len(), 2);
        let root = layer.find(ROOT, "/Root").unwrap();
        let prim = &layer.prims[root];
        assert_eq!(prim.references[0].prim, "/Body");
        assert_eq!((prim.selections["look"].as_str(), prim.active), ("red", Some(false)));
        assert_eq!(layer.still(root, "xformOpOrder").unwrap().texts().len(), 2);
        let times: Vec<f64> = prim.attributes["xformOp:translate"].samples.iter().map(|s| s.0).collect();
        assert_eq!(times, [-1.0, 1.5, 2.0]);
        let matrix = layer.still(root, "m").unwrap().matrices().next().unwrap();
        assert_eq!(matrix.w_axis.x, 5.0);
        assert_eq!(prim.attributes["m"].element_size, Some(3.0));
        assert_eq!(prim.relationships["skel:skeleton"], ["/A", "B"]);
        assert_eq!(prim.relationships["outputs:surface.connect"], ["/Mat.out"]);
        assert_eq!(prim.variants.len(), 2);
        let child = layer.find(root, "Child").unwrap();
        assert!(!layer.prims[child].is_defined);
        assert_eq!(layer.prims[child].attributes["primvars:st"].interpolation.as_deref(), Some("vertex"));
    }

    #[test]
    fn sixty_thousand_nested_prims_need_no_stack() {
        let depth = 60_000;
        let text = format!("#usda 1.0\n{}{}", "def \"a\" {".repeat(depth), "}".repeat(depth));
        assert_eq!(parse(text.as_bytes()).unwrap().prims.len(), depth + 1);
    }

    #[test]
    fn a_fault_names_its_line() {
        let fault = parse(b"#usda 1.0\ndef \"a\"\n{\n  int n = [1, 2\n").unwrap_err();
        assert_eq!(fault.thing, "line 5");
    }
}
