//! What the file's materials look like: base colours and pictures, for the page to draw.
//!
//! Read from glTF (in the file, beside it, or written out in it), FBX (in the file or beside it), COLLADA (beside it),
//! OBJ with its material library and USD (in the package or beside it). The library has no use for pictures, so its readers leave them out. Nothing here can fail: what cannot
//! be read, lies outside the character's folder, or is no PNG, JPEG or WebP is left out, and the page shows clay.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ecorche::character::usd::{self, looks::Asset};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

/// Largest picture that is read, bytes: 16k by 16k pixels as a JPEG has less.
const LARGEST: u64 = 64 << 20;

/// Most pictures of a character.
const MOST: usize = 256;

/// A picture as the browser reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// MIME type.
    pub kind: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

/// What a material looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dress {
    /// Red, green and blue, linear, from 0 to 1.
    pub colour: Option<[f32; 3]>,
    /// Number of its picture.
    pub picture: Option<usize>,
}

/// The looks of a character's materials.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pictures {
    list: Vec<Picture>,
    of_material: BTreeMap<String, Dress>,
}

impl Pictures {
    /// Reads those of the character at `path`.
    pub fn of(path: &Path) -> Self {
        let mut pictures = Self::default();
        let ending = path.extension().map(|e| e.to_ascii_lowercase()).unwrap_or_default();
        let read = match ending.to_str() {
            Some("gltf" | "glb" | "vrm") => pictures.read_gltf(path),
            Some("fbx") => pictures.read_fbx(path),
            Some("dae") => pictures.read_dae(path),
            Some("obj") => pictures.read_obj(path),
            Some("usd" | "usda" | "usdc" | "usdz") => pictures.read_usd(path),
            _ => None,
        };
        read.map(|()| pictures).unwrap_or_default()
    }

    /// A picture by its number.
    pub fn get(&self, number: usize) -> Option<&Picture> {
        self.list.get(number)
    }

    /// What a material looks like.
    pub fn dress(&self, material: &str) -> Dress {
        self.of_material.get(material).copied().unwrap_or_default()
    }

    fn add(&mut self, bytes: Vec<u8>) -> Option<usize> {
        let kind = kind_of(&bytes).filter(|_| self.list.len() < MOST)?;
        let picture = Picture { kind, bytes };
        let known = self.list.iter().position(|other| *other == picture);
        Some(known.unwrap_or_else(|| {
            self.list.push(picture);
            self.list.len() - 1
        }))
    }

    fn read_gltf(&mut self, path: &Path) -> Option<()> {
        let bytes = fs::read(path).ok()?;
        let (text, inside) = chunks(&bytes)?;
        let document: Value = serde_json::from_slice(text).ok()?;
        let folder = path.parent()?;
        let item = |list: &str, number: &Value| document[list].get(usize::try_from(number.as_u64()?).ok()?);
        for (m, material) in document["materials"].as_array()?.iter().enumerate() {
            let surface = &material["pbrMetallicRoughness"];
            let colour = surface["baseColorFactor"].as_array().and_then(|list| {
                let mut channels = list.iter().map(|c| c.as_f64().map(|c| c.clamp(0.0, 1.0) as f32));
                Some([channels.next()??, channels.next()??, channels.next()??])
            });
            let texture = item("textures", &surface["baseColorTexture"]["index"]);
            let image = texture.and_then(|t| {
                let extended = &t["extensions"]["EXT_texture_webp"]["source"];
                item("images", extended).or_else(|| item("images", &t["source"]))
            });
            let found = image.and_then(|image| match image["uri"].as_str() {
                Some(uri) => referred(folder, uri),
                None => {
                    let view = item("bufferViews", &image["bufferView"])?;
                    let (start, length) =
                        (view["byteOffset"].as_u64().unwrap_or(0), view["byteLength"].as_u64()?);
                    let (start, end) =
                        (usize::try_from(start).ok()?, usize::try_from(start.checked_add(length)?).ok()?);
                    match item("buffers", &view["buffer"])?["uri"].as_str() {
                        Some(uri) => referred(folder, uri)?.get(start..end).map(<[u8]>::to_vec),
                        None => inside?.get(start..end).map(<[u8]>::to_vec),
                    }
                }
            });
            let picture = found.and_then(|bytes| self.add(bytes));
            // As the reader names those without a name.
            let name = material["name"].as_str().map_or_else(|| format!("material {m}"), str::to_owned);
            self.of_material.entry(name).or_insert(Dress { colour, picture });
        }
        Some(())
    }

    fn read_fbx(&mut self, path: &Path) -> Option<()> {
        let scene = ufbx::load_memory(&fs::read(path).ok()?, ufbx::LoadOpts::default()).ok()?;
        let folder = path.parent()?;
        for material in &scene.materials {
            let diffuse = &material.fbx.diffuse_color;
            let colour = diffuse.has_value.then(|| {
                let c = diffuse.value_vec4;
                [c.x, c.y, c.z].map(|c| c.clamp(0.0, 1.0) as f32)
            });
            let picture = diffuse.texture.as_ref().and_then(|texture| {
                if !texture.content.is_empty() {
                    return self.add(texture.content.to_vec());
                }
                let relative = texture.relative_filename.replace('\\', "/");
                // Files travel without the folders of who made them.
                let name = Path::new(&relative).file_name()?.to_str()?;
                let places = [
                    relative.clone(),
                    name.to_owned(),
                    format!("textures/{name}"),
                    format!("Textures/{name}"),
                ];
                let bytes = places.iter().find_map(|place| beside(folder, place))?;
                self.add(bytes)
            });
            // Where there should be a picture, found or not, the colour is often black.
            let colour = colour.filter(|_| diffuse.texture.is_none());
            self.of_material.entry(material.element.name.to_string()).or_insert(Dress { colour, picture });
        }
        Some(())
    }

    fn read_dae(&mut self, path: &Path) -> Option<()> {
        let text = fs::read_to_string(path).ok()?;
        let document = roxmltree::Document::parse(&text).ok()?;
        let folder = path.parent()?;
        let called = |tag: &str, id: &str| {
            let id = id.strip_prefix('#').unwrap_or(id).to_owned();
            let tag = tag.to_owned();
            document.descendants().find(move |n| is(n, &tag) && n.attribute("id") == Some(&id))
        };
        for material in document.descendants().filter(|node| is(node, "material")) {
            let Some(name) = material.attribute("name").or(material.attribute("id")) else { continue };
            let effect = below(material, "instance_effect").and_then(|link| link.attribute("url"));
            let Some(effect) = effect.and_then(|id| called("effect", id)) else { continue };
            let Some(diffuse) = below(effect, "diffuse") else { continue };
            let numbers = below(diffuse, "color").and_then(|node| node.text()).unwrap_or_default();
            let mut channels = numbers.split_whitespace().map_while(|word| word.parse::<f32>().ok());
            let colour = match (channels.next(), channels.next(), channels.next()) {
                (Some(r), Some(g), Some(b)) => Some([r, g, b].map(|c| c.clamp(0.0, 1.0))),
                _ => None,
            };
            // A sampler of a surface of an image; old files name the image at once.
            let parameter = |sid: &str, tag: &str| {
                let found =
                    effect.descendants().find(|n| is(n, "newparam") && n.attribute("sid") == Some(sid));
                found.and_then(|node| below(node, tag)).and_then(|node| node.text()).map(str::trim)
            };
            let picture =
                below(diffuse, "texture").and_then(|node| node.attribute("texture")).and_then(|sid| {
                    let surface = parameter(sid, "source").unwrap_or(sid);
                    let image = called("image", parameter(surface, "init_from").unwrap_or(surface))?;
                    let place = below(image, "init_from")?;
                    let place = below(place, "ref").unwrap_or(place).text()?.trim();
                    let bytes = beside(folder, &unescaped(place.strip_prefix("./").unwrap_or(place))?)?;
                    self.add(bytes)
                });
            self.of_material.entry(name.to_owned()).or_insert(Dress { colour, picture });
        }
        Some(())
    }

    fn read_usd(&mut self, path: &Path) -> Option<()> {
        let folder = path.parent()?;
        for look in usd::read_looks(&fs::read(path).ok()?, Some(folder)) {
            let bytes = look.picture.as_ref().and_then(|asset| match asset {
                Asset::Packed(bytes) => Some(bytes.clone()),
                Asset::File(name) => beside(folder, name),
            });
            let picture = bytes.and_then(|bytes| self.add(bytes));
            // A connected colour is only there for programs without pictures.
            let colour = look.colour.filter(|_| look.picture.is_none());
            let colour = colour.map(|colour| colour.map(|c| c.clamp(0.0, 1.0)));
            self.of_material.entry(look.material).or_insert(Dress { colour, picture });
        }
        Some(())
    }

    fn read_obj(&mut self, path: &Path) -> Option<()> {
        let text = fs::read(path).ok()?;
        let text = String::from_utf8_lossy(&text);
        let folder = path.parent()?;
        for library in text.lines().filter_map(|line| line.trim().strip_prefix("mtllib ")) {
            let Some(bytes) = beside(folder, library.trim()) else { continue };
            let mut name = String::new();
            for line in String::from_utf8_lossy(&bytes).lines().map(str::trim) {
                let (key, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                let rest = rest.trim();
                match key {
                    "newmtl" => name = rest.to_owned(),
                    "Kd" => {
                        let mut list = rest.split_whitespace().map_while(|word| word.parse::<f32>().ok());
                        if let (Some(r), Some(g), Some(b)) = (list.next(), list.next(), list.next()) {
                            self.of_material.entry(name.clone()).or_default().colour = Some([r, g, b]);
                        }
                    }
                    // Options come before the name.
                    "map_Kd" => {
                        let file = rest.rsplit(char::is_whitespace).next().unwrap_or_default();
                        let bytes = beside(folder, rest).or_else(|| beside(folder, file));
                        let picture = bytes.and_then(|bytes| self.add(bytes));
                        self.of_material.entry(name.clone()).or_default().picture = picture;
                    }
                    _ => {}
                }
            }
        }
        Some(())
    }
}

fn is(node: &roxmltree::Node, tag: &str) -> bool {
    node.is_element() && node.tag_name().name() == tag
}

/// The first element of a kind below another.
fn below<'a>(node: roxmltree::Node<'a, 'a>, tag: &str) -> Option<roxmltree::Node<'a, 'a>> {
    node.descendants().skip(1).find(|node| is(node, tag))
}

fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The text of a glTF file, and the bytes in it if it is a binary one.
fn chunks(bytes: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    if !bytes.starts_with(b"glTF") {
        return Some((bytes, None));
    }
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let end = 20usize.checked_add(word(12)?)?;
    let text = bytes.get(20..end)?;
    let inside = word(end).and_then(|length| bytes.get(end + 8..end.checked_add(8)?.checked_add(length)?));
    Some((text, inside))
}

/// What a glTF's address stands for: bytes written out in it, or a file beside it.
fn referred(folder: &Path, uri: &str) -> Option<Vec<u8>> {
    match uri.strip_prefix("data:") {
        Some(data) => STANDARD.decode(data.split_once(";base64,")?.1).ok(),
        None => beside(folder, &unescaped(uri)?),
    }
}

/// `%20` and its like as the characters they stand for.
fn unescaped(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut parts = uri.split('%');
    bytes.extend(parts.next()?.bytes());
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(part.bytes().skip(2));
    }
    String::from_utf8(bytes).ok()
}

/// A file below `folder`, if it is there and not too large.
fn beside(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let name = Path::new(name);
    let below = name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let path = folder.join(name);
    let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
    (below && size <= LARGEST).then(|| fs::read(&path).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PNG: &[u8] = &[0x89, b'P', b'N', b'G', 1, 2, 3];

    fn write(folder: &Path, document: &Value) -> Pictures {
        let path = folder.join("a.gltf");
        fs::write(&path, document.to_string()).unwrap();
        Pictures::of(&path)
    }

    fn document(uri: &str) -> Value {
        json!({
            "materials": [
                { "name": "skin", "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } },
                { "pbrMetallicRoughness": { "baseColorFactor": [0.5, 0.25, 2.0, 1.0] } },
            ],
            "textures": [{ "source": 0 }],
            "images": [{ "uri": uri }],
        })
    }

    #[test]
    fn pictures_are_found_beside_the_file_and_in_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("the skin.png"), PNG).unwrap();
        let written = format!("data:image/png;base64,{}", STANDARD.encode(PNG));
        for uri in ["the%20skin.png", &written] {
            let pictures = write(folder.path(), &document(uri));
            assert_eq!(pictures.dress("skin").picture, Some(0), "{uri}");
            assert_eq!(pictures.get(0).map(|p| (p.kind, &p.bytes[..])), Some(("image/png", PNG)));
            assert_eq!(pictures.dress("material 1").colour, Some([0.5, 0.25, 1.0]));
            assert_eq!(pictures.dress("cloth"), Dress::default());
        }
    }

    #[test]
    fn a_usd_scene_names_its_pictures_through_connections() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("textures")).unwrap();
        fs::write(folder.path().join("textures/skin.png"), PNG).unwrap();
        let path = folder.path().join("a.usda");
        let scene = r#"#usda 1.0
def Scope "Looks" {
    def Material "Skin" {
        token outputs:surface.connect = </Looks/Skin/Surface.outputs:surface>
        def Shader "Bumps" { uniform token info:id = "UsdUVTexture" asset inputs:file = @textures/other.png@ }
        def Shader "Colours" { uniform token info:id = "UsdUVTexture" asset inputs:file = @./textures/skin.png@ }
        def Shader "Surface" {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor = (1, 0, 0)
            color3f inputs:diffuseColor.connect = </Looks/Skin/Colours.outputs:rgb>
            normal3f inputs:normal.connect = </Looks/Skin/Bumps.outputs:rgb>
        }
    }
    def Material "Eye" {
        def Shader "Surface" { uniform token info:id = "UsdPreviewSurface" color3f inputs:diffuseColor = (0.5, 0.25, 2) }
    }
}
"#;
        fs::write(&path, scene).unwrap();
        let pictures = Pictures::of(&path);
        assert_eq!(pictures.dress("Skin"), Dress { colour: None, picture: Some(0) });
        assert_eq!(pictures.get(0).map(|p| &p.bytes[..]), Some(PNG));
        assert_eq!(pictures.dress("Eye").colour, Some([0.5, 0.25, 1.0]));
    }

    #[test]
    fn a_binary_file_holds_its_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let mut document = document("");
        document["images"] = json!([{ "bufferView": 0, "mimeType": "image/png" }]);
        document["bufferViews"] = json!([{ "buffer": 0, "byteOffset": 1, "byteLength": PNG.len() }]);
        document["buffers"] = json!([{ "byteLength": 8 }]);
        let text = document.to_string().into_bytes();
        let mut bytes = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(b"JSON");
        bytes.extend(&text);
        bytes.extend(8u32.to_le_bytes());
        bytes.extend(b"BIN\0\0");
        bytes.extend(PNG);
        let path = folder.path().join("a.glb");
        fs::write(&path, bytes).unwrap();
        assert_eq!(Pictures::of(&path).get(0).unwrap().bytes, PNG);
    }

    #[test]
    fn what_is_no_picture_or_lies_elsewhere_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::write(folder.path().join("a.png"), PNG).unwrap();
        fs::write(inner.join("a.txt"), "secret").unwrap();
        let outside = folder.path().join("a.png").display().to_string();
        for uri in
            ["../a.png", &outside, "a.txt", "gone.png", "data:,", "data:image/png;base64,!", "%", "%zz"]
        {
            let pictures = write(&inner, &document(uri));
            assert_eq!((pictures.dress("skin").picture, pictures.get(0)), (None, None), "{uri}");
        }
        fs::write(inner.join("a.gltf"), "{").unwrap();
        assert_eq!(Pictures::of(&inner.join("a.gltf")), Pictures::default());
    }

    #[test]
    fn a_collada_s_effects_name_colours_and_pictures() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("the skin.png"), PNG).unwrap();
        let path = folder.path().join("a.dae");
        let text = r##"<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema">
            <library_images><image id="i"><init_from>./the%20skin.png</init_from></image></library_images>
            <library_effects>
                <effect id="e"><profile_COMMON>
                    <newparam sid="s"><surface><init_from>i</init_from></surface></newparam>
                    <newparam sid="p"><sampler2D><source>s</source></sampler2D></newparam>
                    <technique><phong><diffuse><texture texture="p"/></diffuse></phong></technique>
                </profile_COMMON></effect>
                <effect id="f"><technique><diffuse><color>1 0.5 0 1</color></diffuse></technique></effect>
            </library_effects>
            <library_materials>
                <material id="m" name="skin"><instance_effect url="#e"/></material>
                <material id="cloth"><instance_effect url="#f"/></material>
                <material id="lost"><instance_effect url="#gone"/></material>
            </library_materials>
        </COLLADA>"##;
        fs::write(&path, text).unwrap();
        let pictures = Pictures::of(&path);
        assert_eq!(pictures.dress("skin"), Dress { colour: None, picture: Some(0) });
        assert_eq!(pictures.dress("cloth"), Dress { colour: Some([1.0, 0.5, 0.0]), picture: None });
        assert_eq!(pictures.dress("lost"), Dress::default());
        fs::write(&path, "<COLLADA>").unwrap();
        assert_eq!(Pictures::of(&path), Pictures::default());
    }

    #[test]
    fn an_obj_s_library_names_colours_and_pictures() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("skin.png"), PNG).unwrap();
        fs::write(folder.path().join("a.mtl"), "newmtl skin\nKd 1 0.5 0\nmap_Kd -s 1 1 1 skin.png\n")
            .unwrap();
        let path = folder.path().join("a.obj");
        fs::write(&path, "mtllib a.mtl\nv 0 0 0\n").unwrap();
        let dress = Pictures::of(&path).dress("skin");
        assert_eq!(dress, Dress { colour: Some([1.0, 0.5, 0.0]), picture: Some(0) });
    }
}
