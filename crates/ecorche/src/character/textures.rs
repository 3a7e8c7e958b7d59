//! What the materials of a character's file look like: base colours and textures, for programs that draw it.
//!
//! Read from glTF, FBX, COLLADA, OBJ with its material library, and USD; textures may be in the file, written out in it, or
//! beside it. Nothing here fails: a texture that cannot be read, lies outside the character's folder, or is no PNG, JPEG or
//! WebP is left out.

use super::{dae, fbx, gltf, obj, usd};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

/// Largest texture that is read, bytes: 16k by 16k pixels as a JPEG has less.
const LARGEST: u64 = 64 << 20;

/// Most textures of a character.
const MOST: usize = 256;

/// A texture as its file holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// MIME type: PNG, JPEG or WebP.
    pub mime: &'static str,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// What a material looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// Base colour: red, green and blue, linear, from 0 to 1. None where a texture or nothing is given.
    pub colour: Option<[f32; 3]>,
    /// Number of its base colour texture, for [`Textures::get`].
    pub texture: Option<usize>,
}

/// The looks of a character's materials.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Textures {
    list: Vec<Texture>,
    of_material: BTreeMap<String, Look>,
}

/// A material as its format describes it.
pub(super) struct MaterialLook {
    /// Name of the material.
    pub name: String,
    /// Base colour: red, green and blue, linear.
    pub colour: Option<[f32; 3]>,
    /// Where its base colour texture is.
    pub texture: Option<Place>,
}

/// Where a texture is.
pub(super) enum Place {
    /// In the file.
    Inside(Vec<u8>),
    /// In the first of these files that exists, relative to the character's folder.
    Beside(Vec<String>),
}

/// A reader takes the file's bytes and its folder.
type Reader = fn(&[u8], &Path) -> Option<Vec<MaterialLook>>;

impl Textures {
    /// Reads those of the character at `path`; none where the file or its format is not understood.
    pub fn read(path: &Path) -> Self {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        let reader: Reader = match ending.as_str() {
            "gltf" | "glb" | "vrm" => gltf::looks,
            "fbx" => fbx::looks,
            "dae" => dae::looks,
            "obj" => obj::looks,
            "usd" | "usda" | "usdc" | "usdz" => usd::looks,
            _ => return Self::default(),
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let Some(found) = crate::input::read(path).ok().and_then(|bytes| reader(&bytes, folder)) else {
            return Self::default();
        };
        let mut textures = Self::default();
        for MaterialLook { name, colour, texture } in found {
            let bytes = texture.and_then(|place| match place {
                Place::Inside(bytes) => Some(bytes),
                Place::Beside(names) => names.iter().find_map(|name| read_beside(folder, name)),
            });
            let texture = bytes.and_then(|bytes| textures.add(bytes));
            let colour = colour.map(|colour| colour.map(|c| c.clamp(0.0, 1.0)));
            textures.of_material.entry(name).or_insert(Look { colour, texture });
        }
        textures
    }

    /// Plain colours of materials: red, green and blue, linear.
    pub fn plain(colours: &[(String, [f32; 3])]) -> Self {
        let look = |(name, colour): &(String, [f32; 3])| {
            (name.clone(), Look { colour: Some(*colour), texture: None })
        };
        Self { list: Vec::new(), of_material: colours.iter().map(look).collect() }
    }

    /// A texture by its number.
    pub fn get(&self, number: usize) -> Option<&Texture> {
        self.list.get(number)
    }

    /// What a material looks like.
    pub fn look(&self, material: &str) -> Look {
        self.of_material.get(material).copied().unwrap_or_default()
    }

    fn add(&mut self, bytes: Vec<u8>) -> Option<usize> {
        let mime = mime_of(&bytes).filter(|_| self.list.len() < MOST)?;
        let texture = Texture { mime, bytes };
        let known = self.list.iter().position(|other| *other == texture);
        Some(known.unwrap_or_else(|| {
            self.list.push(texture);
            self.list.len() - 1
        }))
    }
}

fn mime_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The content of a file below `folder`, if it is there and not too large.
pub(super) fn read_beside(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let name = Path::new(name);
    let below = name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let path = folder.join(name);
    let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
    (below && size <= LARGEST).then(|| fs::read(&path).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const PNG: &[u8] = &[0x89, b'P', b'N', b'G', 1, 2, 3];

    fn write(folder: &Path, document: &Value) -> Textures {
        let path = folder.join("a.gltf");
        fs::write(&path, document.to_string()).unwrap();
        Textures::read(&path)
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
    fn textures_are_found_beside_the_file_and_in_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("the skin.png"), PNG).unwrap();
        let written = "data:image/png;base64,iVBORwECAw==";
        for uri in ["the%20skin.png", written] {
            let textures = write(folder.path(), &document(uri));
            assert_eq!(textures.look("skin").texture, Some(0), "{uri}");
            assert_eq!(textures.get(0).map(|p| (p.mime, &p.bytes[..])), Some(("image/png", PNG)));
            assert_eq!(textures.look("material 1").colour, Some([0.5, 0.25, 1.0]));
            assert_eq!(textures.look("cloth"), Look::default());
        }
    }

    #[test]
    fn a_usd_scene_names_its_textures_through_connections() {
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
        let textures = Textures::read(&path);
        assert_eq!(textures.look("Skin"), Look { colour: None, texture: Some(0) });
        assert_eq!(textures.get(0).map(|p| &p.bytes[..]), Some(PNG));
        assert_eq!(textures.look("Eye").colour, Some([0.5, 0.25, 1.0]));
    }

    #[test]
    fn a_binary_file_holds_its_textures() {
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
        assert_eq!(Textures::read(&path).get(0).unwrap().bytes, PNG);
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
            let textures = write(&inner, &document(uri));
            assert_eq!((textures.look("skin").texture, textures.get(0)), (None, None), "{uri}");
        }
        fs::write(inner.join("a.gltf"), "{").unwrap();
        assert_eq!(Textures::read(&inner.join("a.gltf")), Textures::default());
    }

    #[test]
    fn a_collada_s_effects_name_colours_and_textures() {
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
        let textures = Textures::read(&path);
        assert_eq!(textures.look("skin"), Look { colour: None, texture: Some(0) });
        assert_eq!(textures.look("cloth"), Look { colour: Some([1.0, 0.5, 0.0]), texture: None });
        assert_eq!(textures.look("lost"), Look::default());
        fs::write(&path, "<COLLADA>").unwrap();
        assert_eq!(Textures::read(&path), Textures::default());
    }

    #[test]
    fn an_obj_s_library_names_colours_and_textures() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("skin.png"), PNG).unwrap();
        fs::write(folder.path().join("a.mtl"), "newmtl skin\nKd 1 0.5 0\nmap_Kd -s 1 1 1 skin.png\n")
            .unwrap();
        let path = folder.path().join("a.obj");
        fs::write(&path, "mtllib a.mtl\nv 0 0 0\n").unwrap();
        let look = Textures::read(&path).look("skin");
        assert_eq!(look, Look { colour: Some([1.0, 0.5, 0.0]), texture: Some(0) });
    }
}
