//! Poses that were kept, in a file of the anatomy's folder.

use crate::wire::wire;
use ecorche::output::file;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the file is called.
const NAME: &str = "poses.json";

/// Most bytes of such a file.
const LARGEST: u64 = 16 << 20;

wire! {
    /// Rotations of joints relative to their parents (x, y, z, w), by the joints' names; others are at rest.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct KeptPose {
        /// What it is called; each name once.
        pub name: String,
        /// The joints that are turned.
        pub joints: BTreeMap<String, [f32; 4]>,
    }
}

/// The poses of a folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Poses {
    /// By name.
    pub poses: Vec<KeptPose>,
}

impl Poses {
    /// What is kept in `folder`; none without a file.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let path = path(folder);
        let words = |why: &dyn std::fmt::Display| {
            format!("{}: {why}; mend or remove the file to keep poses in it", path.display())
        };
        match std::fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(words(&error)),
            Ok(known) if known.len() > LARGEST => return Err(words(&"larger than any list of poses")),
            Ok(_) => {}
        }
        let text = std::fs::read_to_string(&path).map_err(|error| words(&error))?;
        serde_json::from_str(&text).map_err(|error| words(&error))
    }

    /// Keeps a pose, in place of the one of that name.
    pub fn keep(folder: &Path, pose: KeptPose) -> Result<Self, String> {
        if pose.name.trim().is_empty() {
            return Err("a pose needs a name".to_owned());
        }
        if pose.joints.is_empty() {
            return Err("no joint is turned by hand; turn some and keep that".to_owned());
        }
        Self::change(folder, |poses| {
            poses.retain(|other| other.name != pose.name);
            poses.push(pose);
            poses.sort_by(|a, b| a.name.cmp(&b.name));
        })
    }

    /// Takes a pose out.
    pub fn remove(folder: &Path, name: &str) -> Result<Self, String> {
        Self::change(folder, |poses| poses.retain(|pose| pose.name != name))
    }

    /// Read anew before it is changed: another studio may have added some.
    fn change(folder: &Path, change: impl FnOnce(&mut Vec<KeptPose>)) -> Result<Self, String> {
        let mut poses = Self::read(folder)?;
        change(&mut poses.poses);
        let text = serde_json::to_vec_pretty(&poses).map_err(|error| error.to_string())?;
        file::write(&path(folder), &text).map_err(|error| error.to_string())?;
        Ok(poses)
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pose(name: &str, x: f32) -> KeptPose {
        let joints = [("leftHand".to_owned(), [x, 0.0, 0.0, 1.0])].into();
        KeptPose { name: name.to_owned(), joints }
    }

    #[test]
    fn poses_are_kept_by_name_and_a_damaged_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert_eq!(Poses::read(folder).unwrap(), Poses::default());
        for (name, x) in [("fist", 0.1), ("wave", 0.2), ("fist", 0.3)] {
            Poses::keep(folder, pose(name, x)).unwrap();
        }
        assert_eq!(Poses::read(folder).unwrap().poses, [pose("fist", 0.3), pose("wave", 0.2)]);
        assert_eq!(Poses::remove(folder, "fist").unwrap().poses, [pose("wave", 0.2)]);
        assert!(Poses::keep(folder, pose(" ", 0.1)).is_err());
        std::fs::write(path(folder), "{ \"poses\": 7 }").unwrap();
        let told = Poses::keep(folder, pose("fist", 0.1)).unwrap_err();
        assert!(told.contains(NAME), "{told}");
        assert_eq!(std::fs::read_to_string(path(folder)).unwrap(), "{ \"poses\": 7 }");
    }
}
