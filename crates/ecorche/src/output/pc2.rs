//! PC2 point caches: little-endian, a 32-byte header, then every sample's points as f32 xyz.
//!
//! Header: `POINTCACHE2\0`, version (1), points, first frame (f32), frames per sample (f32), samples.

use super::file::PendingFile;
use super::point_cache::PointCacheWriter;
use super::{Shot, WriteError};
use glam::Vec3;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 12] = b"POINTCACHE2\0";
const HEADER: usize = 32;
/// The largest cache that is read, bytes: 64 GiB.
const LARGEST: u64 = 64 << 30;

/// Starts one PC2 file per mesh.
pub fn create(path: &Path, shot: &Shot) -> Result<PointCacheWriter, WriteError> {
    PointCacheWriter::create(path, shot, f32::to_le_bytes, |mesh| {
        header(mesh.positions.len(), shot.first_frame as f32, shot.frame_count).to_vec()
    })
}

fn header(points: usize, first_frame: f32, samples: usize) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[..12].copy_from_slice(MAGIC);
    bytes[12..16].copy_from_slice(&1i32.to_le_bytes());
    bytes[16..20].copy_from_slice(&(points as i32).to_le_bytes());
    bytes[20..24].copy_from_slice(&first_frame.to_le_bytes());
    bytes[24..28].copy_from_slice(&1f32.to_le_bytes());
    bytes[28..32].copy_from_slice(&(samples as i32).to_le_bytes());
    bytes
}

/// A PC2 file read back, in the units and axes it was written in.
#[derive(Clone, Debug, PartialEq)]
pub struct Pc2 {
    /// Frame number of the first sample.
    pub first_frame: f32,
    /// Points of every sample.
    pub samples: Vec<Vec<Vec3>>,
}

impl Pc2 {
    /// Reads a whole cache; says what is wrong with a damaged one.
    pub fn read(path: &Path) -> Result<Self, WriteError> {
        let bytes = crate::input::read_up_to(path, LARGEST)
            .map_err(|source| WriteError::Read { path: path.to_owned(), source })?;
        let bad = |problem: String| WriteError::DoesNotFit {
            path: path.to_owned(),
            problem,
            remedy: "bake it again".into(),
        };
        if bytes.len() < HEADER || &bytes[..12] != MAGIC {
            return Err(bad("not a PC2 file".into()));
        }
        let size = (bytes.len() - HEADER) as u64;
        let word = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let (version, points, samples) = (word(12), word(16), word(28));
        let [version, points, samples] = [version, points, samples].map(i32::from_le_bytes);
        if version != 1 {
            return Err(bad(format!("version {version} of PC2, where 1 is known")));
        }
        let [first_frame, step] = [word(20), word(24)].map(f32::from_le_bytes);
        if !first_frame.is_finite() || step != 1.0 {
            return Err(bad(format!(
                "starts at frame {first_frame} with {step} frames a sample, where 1 is read"
            )));
        }
        // The size reveals counts that are negative and counts that do not fit the file.
        let promised = u64::try_from(points).ok().zip(u64::try_from(samples).ok());
        let promised = promised.and_then(|(p, s)| p.checked_mul(s)?.checked_mul(12));
        if promised != Some(size) {
            return Err(bad(format!(
                "header promises {samples} samples of {points} points, the file holds {size} bytes"
            )));
        }
        let (points, samples) = (points as usize, samples as usize);
        let floats: Vec<f32> =
            bytes[HEADER..].chunks_exact(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        if let Some(at) = floats.iter().position(|x| !x.is_finite()) {
            return Err(bad(format!(
                "point {} at frame {} is not finite",
                at / 3 % points,
                first_frame as usize + at / 3 / points
            )));
        }
        let samples = (0..samples)
            .map(|s| {
                floats[3 * points * s..3 * points * (s + 1)].chunks_exact(3).map(Vec3::from_slice).collect()
            })
            .collect();
        Ok(Self { first_frame, samples })
    }

    /// Writes the cache, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<PathBuf, WriteError> {
        let mut file = PendingFile::create(path)?;
        file.put(&header(self.samples.first().map_or(0, Vec::len), self.first_frame, self.samples.len()))?;
        for p in self.samples.iter().flatten() {
            file.put(bytemuck::cast_slice(&p.to_array().map(f32::to_le_bytes)))?;
        }
        file.commit()
    }

    /// Reads pieces of one bake and puts them in the order of their frames, which must meet without gap.
    pub fn join(pieces: &[PathBuf]) -> Result<Self, WriteError> {
        let mut read =
            pieces.iter().map(|p| Ok((Self::read(p)?, p))).collect::<Result<Vec<_>, WriteError>>()?;
        read.sort_by(|a, b| a.0.first_frame.total_cmp(&b.0.first_frame));
        let mut joined = Self { first_frame: 0.0, samples: Vec::new() };
        for (i, (piece, path)) in read.into_iter().enumerate() {
            let does_not_fit = |problem: String| WriteError::DoesNotFit {
                path: path.clone(),
                problem,
                remedy: "join pieces of one character and clip whose ranges of frames meet".into(),
            };
            if i == 0 {
                joined = piece;
                continue;
            }
            let next = joined.first_frame + joined.samples.len() as f32;
            if piece.first_frame != next {
                return Err(does_not_fit(format!(
                    "starts at frame {}, but frame {next} comes next",
                    piece.first_frame
                )));
            }
            let (points, before) =
                (piece.samples.first().map_or(0, Vec::len), joined.samples.first().map_or(0, Vec::len));
            if points != before {
                return Err(does_not_fit(format!("has {points} points where the piece before has {before}")));
            }
            joined.samples.extend(piece.samples);
        }
        Ok(joined)
    }
}
