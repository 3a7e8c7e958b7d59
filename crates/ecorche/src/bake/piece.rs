//! Pieces of a bake that several processes make, and joining them.
//!
//! A PC2 file says which frames it holds, but not of what. A bake of some frames of a clip therefore writes a
//! record beside each PC2 file, `NAME.pc2.piece.json`, and [`join`] puts only pieces of one bake together.

use crate::deform::Body;
use crate::input;
use crate::output::pc2::Pc2;
use crate::output::{WriteError, file, names};
use crate::sampling::Plan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What a piece is a piece of.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Bake {
    /// Version of the program.
    program: String,
    /// Name of the character.
    character: String,
    /// Name of the mesh.
    mesh: String,
    /// Name of the clip.
    clip: String,
    /// Name of the method.
    method: String,
    /// Frames per second.
    fps: f32,
    /// Frames of the whole clip.
    clip_frames: usize,
    /// Hash of everything that determines the frames: shape, weights and joints, the clip's keys, settings, muscles.
    everything_else: String,
}

/// The record beside a piece.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Record {
    /// The bake.
    piece_of: Bake,
    /// Number of the first frame.
    first_frame: usize,
    /// Number of frames.
    frames: usize,
    /// Hash of the PC2 file.
    file: String,
}

/// Where the record of a PC2 file is.
fn record_path(pc2: &Path) -> PathBuf {
    let mut name = pc2.as_os_str().to_owned();
    name.push(".piece.json");
    name.into()
}

fn hash_of(path: &Path) -> Result<String, WriteError> {
    let mut hasher = blake3::Hasher::new();
    let mut hash = || -> std::io::Result<()> {
        let mut file = std::fs::File::open(path)?;
        let mut buffer = vec![0; 1 << 20];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                read => hasher.update(&buffer[..read]),
            };
        }
    };
    hash().map_err(|source| WriteError::Io { path: path.to_owned(), source })?;
    Ok(hasher.finalize().to_hex().to_string())
}

impl Record {
    fn write(&self, pc2: &Path) -> Result<PathBuf, WriteError> {
        let path = record_path(pc2);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| WriteError::Io { path: path.clone(), source: error.into() })?;
        file::write(&path, format!("{text}\n").as_bytes())
    }

    fn read(pc2: &Path) -> Result<Self, WriteError> {
        let path = record_path(pc2);
        let no_use = |problem: String| WriteError::DoesNotFit {
            path: pc2.to_owned(),
            problem,
            remedy: "bake this piece again, or join without checking".into(),
        };
        let text = input::read_text(&path).map_err(|e| {
            no_use(format!("cannot tell what it is a piece of: its record {}: {e}", path.display()))
        })?;
        let record: Self = serde_json::from_str(&text)
            .map_err(|e| no_use(format!("its record {} is damaged: {e}", path.display())))?;
        if hash_of(pc2)? != record.file {
            return Err(no_use(format!("was changed since its record {} was written", path.display())));
        }
        Ok(record)
    }
}

/// Writes or removes the records of PC2 files that [`bake`](super::bake) made of `plan`, one per mesh, and lists those
/// written: there are some if `plan` is not the whole clip, or if it was asked for as a `piece` that happens to be the
/// whole. `key` is that of [`Ingredients::key`](crate::recipe::Ingredients::key).
pub fn write_records(
    body: &Body,
    plan: &Plan,
    piece: bool,
    key: impl FnOnce() -> [u8; 32],
    pc2: &[PathBuf],
) -> Result<Vec<PathBuf>, WriteError> {
    let clip_frames = plan.clip.map_or(1, |clip| clip.frame_count(plan.fps));
    if plan.len() == clip_frames && !piece {
        for path in pc2 {
            // Of an earlier bake to the same name.
            let _ = std::fs::remove_file(record_path(path));
        }
        return Ok(Vec::new());
    }
    let character = body.character();
    let everything_else = blake3::Hash::from_bytes(key()).to_hex().to_string();
    let mut written = Vec::new();
    for (path, mesh) in pc2.iter().zip(&character.meshes) {
        let record = Record {
            piece_of: Bake {
                program: env!("CARGO_PKG_VERSION").to_owned(),
                character: character.name.clone(),
                mesh: mesh.name.clone(),
                clip: plan.clip.map_or_else(String::new, |clip| clip.name.clone()),
                method: body.stack().to_string(),
                fps: plan.fps,
                clip_frames,
                everything_else: everything_else.clone(),
            },
            first_frame: *plan.frames.start(),
            frames: plan.len(),
            file: hash_of(path)?,
        };
        written.push(record.write(path)?);
    }
    Ok(written)
}

/// Joins PC2 pieces of one bake in the order of their frames, which must meet without gap, and writes the result
/// to `output`. Without `checked`, only frames and point counts must fit, and no records are needed.
pub fn join(pieces: &[PathBuf], output: &Path, checked: bool) -> Result<Pc2, WriteError> {
    let records = if checked {
        pieces.iter().map(|p| Record::read(p)).collect::<Result<Vec<_>, _>>()?
    } else {
        Vec::new()
    };
    if let Some(first) = records.first() {
        for (record, path) in records.iter().zip(pieces).skip(1) {
            if let Some(problem) = difference(&record.piece_of, &first.piece_of) {
                return Err(WriteError::DoesNotFit {
                    path: path.clone(),
                    problem: format!("is no piece of the same bake as {}: {problem}", pieces[0].display()),
                    remedy: "join pieces of one bake".into(),
                });
            }
        }
    }
    let joined = Pc2::join(pieces)?;
    joined.write(output)?;
    match records.into_iter().next() {
        // What is still not the whole clip can be joined again.
        Some(first) if joined.samples.len() < first.piece_of.clip_frames => {
            let (first_frame, frames) = (joined.first_frame as usize, joined.samples.len());
            Record { first_frame, frames, file: hash_of(output)?, ..first }.write(output)?;
        }
        _ => {
            let _ = std::fs::remove_file(record_path(output));
        }
    }
    Ok(joined)
}

/// What pieces of a character with any number of meshes are joined to, mesh by mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshPieces {
    /// The pieces of one mesh.
    pub pieces: Vec<PathBuf>,
    /// What they are joined to.
    pub output: PathBuf,
}

/// The pieces of each mesh. A piece is named as its bake was told to: `part.pc2` stands for itself, or, where the character
/// has several meshes and there is no such file, for `part.MESH.pc2`. The results are named in the same way.
pub fn by_mesh(pieces: &[PathBuf], output: &Path) -> Result<Vec<MeshPieces>, WriteError> {
    let found: Vec<_> = pieces.iter().map(|piece| files_of(piece)).collect();
    let Some((first, others)) = found.split_first() else { return Ok(Vec::new()) };
    for (labels, piece) in others.iter().zip(&pieces[1..]) {
        if !labels.keys().eq(first.keys()) {
            let list = |of: &BTreeMap<String, PathBuf>| match of.contains_key("") {
                true => "one mesh".to_owned(),
                false => of.keys().cloned().collect::<Vec<_>>().join(", "),
            };
            return Err(WriteError::DoesNotFit {
                path: piece.clone(),
                problem: format!(
                    "there are files of {} where {} has {}",
                    list(labels),
                    pieces[0].display(),
                    list(first)
                ),
                remedy: "bake this piece again, or join pieces of one bake".into(),
            });
        }
    }
    let of_mesh = |label: &String| MeshPieces {
        pieces: found.iter().map(|files| files[label].clone()).collect(),
        output: match label.as_str() {
            "" => output.to_owned(),
            label => names::labelled(output, &[label]).remove(0),
        },
    };
    Ok(first.keys().map(of_mesh).collect())
}

/// Files of a piece by the label of their mesh; one without a label for a single mesh.
fn files_of(piece: &Path) -> BTreeMap<String, PathBuf> {
    let mut files = BTreeMap::new();
    if !piece.exists() {
        let folder = piece.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let stem = piece.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let label = name.strip_prefix(&stem).and_then(|n| n.strip_prefix('.')?.strip_suffix(".pc2"));
            if let Some(label) = label.filter(|label| !label.is_empty() && !label.contains('.')) {
                files.insert(label.to_owned(), piece.with_file_name(&name));
            }
        }
    }
    if files.is_empty() {
        files.insert(String::new(), piece.to_owned());
    }
    files
}

fn difference(this: &Bake, other: &Bake) -> Option<String> {
    let words = [
        ("character", &this.character, &other.character),
        ("mesh", &this.mesh, &other.mesh),
        ("clip", &this.clip, &other.clip),
        ("method", &this.method, &other.method),
        ("version of the program", &this.program, &other.program),
    ];
    if let Some((what, a, b)) = words.into_iter().find(|(_, a, b)| a != b) {
        return Some(format!("{what} \"{a}\" instead of \"{b}\""));
    }
    if this.fps != other.fps {
        return Some(format!("{} instead of {} frames per second", this.fps, other.fps));
    }
    (this != other).then(|| "the character, the clip or a setting was changed in between".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::Stack;
    use crate::recipe::Recipe;
    use crate::samples;
    use crate::sampling::Sampling;
    use std::ops::{ControlFlow, RangeInclusive};

    fn piece(path: &Path, method: Stack, clip: &str, fps: f32, frames: RangeInclusive<usize>) {
        let ingredients = Recipe::of("sample:cylinder").read().unwrap();
        let settings = ingredients.settings(Some(method));
        let body = ingredients.bind(settings.clone(), None).unwrap();
        let sampling = Sampling { fps: Some(fps), frames: Some(frames) };
        let plan = Plan::new(ingredients.character.clip(clip), &sampling).unwrap();
        let baked = crate::bake::bake(&body, &plan, path, |_| ControlFlow::Continue(())).unwrap();
        write_records(&body, &plan, false, || ingredients.key(&settings, &plan), &baked.paths).unwrap();
    }

    #[test]
    fn only_pieces_of_one_bake_are_joined() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        piece(&at("a.pc2"), Stack::linear(), "bend", 12.0, 0..=2);
        piece(&at("b.pc2"), Stack::linear(), "bend", 12.0, 3..=5);
        piece(&at("method.pc2"), Stack::dual_quaternion(), "bend", 12.0, 3..=5);
        piece(&at("clip.pc2"), Stack::linear(), "twist", 12.0, 3..=5);
        piece(&at("rate.pc2"), Stack::linear(), "bend", 10.0, 3..=5);
        let joined = join(&[at("b.pc2"), at("a.pc2")], &at("ab.pc2"), true).unwrap();
        assert_eq!((joined.first_frame, joined.samples.len()), (0.0, 6));
        for (other, words) in [
            ("method.pc2", "method \"dqs\" instead of \"lbs\""),
            ("clip.pc2", "clip \"twist\" instead of \"bend\""),
            ("rate.pc2", "10 instead of 12 frames per second"),
        ] {
            let error = join(&[at("a.pc2"), at(other)], &at("no.pc2"), true).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains(other), "{error}");
            assert!(!at("no.pc2").exists());
        }
        // What was joined is a piece again.
        piece(&at("c.pc2"), Stack::linear(), "bend", 12.0, 6..=7);
        assert_eq!(join(&[at("ab.pc2"), at("c.pc2")], &at("abc.pc2"), true).unwrap().samples.len(), 8);
    }

    #[test]
    fn pieces_of_several_meshes_are_joined_mesh_by_mesh() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [
            "a.Body.pc2",
            "a.Hat.pc2",
            "b.Body.pc2",
            "b.Hat.pc2",
            "b.Hat.pc2.piece.json",
            "c.Hat.pc2",
            "d.pc2",
        ] {
            std::fs::write(at(name), "").unwrap();
        }
        let expected = ["Body", "Hat"].map(|mesh| MeshPieces {
            pieces: ["a", "b"].map(|piece| at(&format!("{piece}.{mesh}.pc2"))).to_vec(),
            output: at(&format!("out.{mesh}.pc2")),
        });
        assert_eq!(by_mesh(&[at("a.pc2"), at("b.pc2")], &at("out.pc2")).unwrap(), expected);
        for (other, words) in [("c.pc2", "files of Hat where"), ("d.pc2", "one mesh where")] {
            let error = by_mesh(&[at("a.pc2"), at(other)], &at("out.pc2")).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains(other), "{error}");
        }
        let missing = by_mesh(&[at("e.pc2")], &at("out.pc2")).unwrap();
        assert_eq!(missing, [MeshPieces { pieces: vec![at("e.pc2")], output: at("out.pc2") }]);
    }

    #[test]
    fn changed_pieces_and_pieces_without_a_record_are_refused_unless_told_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        piece(&at("a.pc2"), Stack::linear(), "bend", 12.0, 0..=2);
        piece(&at("b.pc2"), Stack::linear(), "bend", 12.0, 3..=5);
        let pieces = [at("a.pc2"), at("b.pc2")];
        let bytes = std::fs::read(at("b.pc2")).unwrap();
        std::fs::write(at("b.pc2"), [&bytes[..], &[]].concat()).unwrap();
        assert!(join(&pieces, &at("ab.pc2"), true).is_ok());
        let mut changed = bytes.clone();
        changed[100] ^= 1;
        std::fs::write(at("b.pc2"), changed).unwrap();
        let error = join(&pieces, &at("no.pc2"), true).unwrap_err().to_string();
        assert!(error.contains("was changed"), "{error}");
        assert!(join(&pieces, &at("ab.pc2"), false).is_ok());
        std::fs::remove_file(at("b.pc2.piece.json")).unwrap();
        let error = join(&pieces, &at("no.pc2"), true).unwrap_err().to_string();
        assert!(error.contains("b.pc2.piece.json") && error.contains("join without checking"), "{error}");
        let mut not_a_number = bytes;
        not_a_number[40..44].copy_from_slice(&f32::NAN.to_le_bytes());
        std::fs::write(at("b.pc2"), not_a_number).unwrap();
        let error = join(&pieces, &at("no.pc2"), false).unwrap_err().to_string();
        assert!(error.contains("frame 3") && error.contains("not finite"), "{error}");
        assert!(!at("no.pc2").exists());
    }

    #[test]
    fn a_whole_clip_has_no_record_and_removes_an_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pc2");
        let character = samples::build("cylinder").unwrap();
        let last = character.clip("bend").unwrap().frame_count(12.0) - 1;
        piece(&path, Stack::linear(), "bend", 12.0, 0..=2);
        assert!(record_path(&path).exists());
        piece(&path, Stack::linear(), "bend", 12.0, 0..=last);
        assert!(!record_path(&path).exists());
    }
}
