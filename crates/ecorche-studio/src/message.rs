//! What page and engine say to each other.
//!
//! The page sends small JSON texts, the engine binary messages:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `ECRC` |
//! | 2 | version of this layout, [`VERSION`] |
//! | 2 | kind, [`Kind`] |
//! | 4 | length of the head |
//! | 4 | number of arrays |
//! | 8 each | type ([`Array`]) and length in bytes of each array |
//! | padded to 4 | the head: JSON |
//! | padded to 4 each | the arrays |
//!
//! Numbers are little-endian. When paused, positions are single precision as computed: what the page shows is what a
//! bake holds, to the bit. While playing a vertex is eight bytes: its place in 16 bits each way in a cube around the
//! character, off by at most 0.8e-5 of its side, and its normal in 16 bits, off by at most a degree; muscles are in 16
//! bits a number likewise. That halves the bytes.

use crate::poses::KeptPose;
use crate::wire::wire;
use axum::body::Bytes;
use ecorche::anatomy::Edit;
use ecorche::surface::smooth;
use serde::{Deserialize, Serialize};

/// Version of the layout, and of the texts the page sends; part of the engine's address.
pub const VERSION: u16 = 6;

/// Most bytes of a text from the page: an anatomy file of a thousand muscles has half of it.
pub const LARGEST_TEXT: usize = 1 << 20;

const MAGIC: &[u8; 4] = b"ECRC";

/// What a message of the engine is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    /// The opened character; once per connection.
    Character = 1,
    /// The anatomy and what can be undone; whenever it changed.
    Document = 2,
    /// One moment of the skin.
    Frame = 3,
    /// What is under the skin in that moment.
    Inside = 4,
    /// Something to say: an error, a saved file, a question.
    Notice = 5,
    /// How far a bake is.
    Bake = 6,
    /// Operator and controller at a joint.
    Graph = 7,
    /// The owners of strands and pads in the frames that follow.
    Flesh = 8,
    /// The pieces of the surface and their roles, once they are known and whenever they changed.
    Pieces = 9,
    /// What is being bound, and how far that is; null when nothing is.
    Busy = 10,
    /// What is open or being opened, and what could be.
    Desk = 11,
    /// What is in a folder.
    Folder = 12,
    /// Where skin crosses, as far as that is known.
    Verdict = 13,
    /// The poses that are kept.
    Poses = 14,
    /// A clip for a crowd: weights and muscles, and every frame's poses. An answer to `crowd/NUMBER`.
    Crowd = 15,
}

/// Numbers that follow a message's head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Array<'a> {
    /// Type 1.
    F32(&'a [f32]),
    /// Type 2.
    U32(&'a [u32]),
    /// Type 3.
    I16(&'a [i16]),
    /// Type 4.
    U8(&'a [u8]),
    /// Type 5.
    U16(&'a [u16]),
}

impl Array<'_> {
    fn tag(&self) -> u32 {
        match self {
            Self::F32(_) => 1,
            Self::U32(_) => 2,
            Self::I16(_) => 3,
            Self::U8(_) => 4,
            Self::U16(_) => 5,
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::F32(list) => bytemuck::cast_slice(list),
            Self::U32(list) => bytemuck::cast_slice(list),
            Self::I16(list) => bytemuck::cast_slice(list),
            Self::U8(list) => list,
            Self::U16(list) => bytemuck::cast_slice(list),
        }
    }
}

/// A message of the engine as bytes.
pub fn encode(kind: Kind, head: &impl Serialize, arrays: &[Array]) -> Bytes {
    // What is written here are our own types, whose keys are texts: it cannot fail.
    let head = serde_json::to_vec(head).unwrap_or_default();
    let padded = |length: usize| length.next_multiple_of(4);
    let body: usize = arrays.iter().map(|array| padded(array.bytes().len())).sum();
    let mut bytes = Vec::with_capacity(16 + 8 * arrays.len() + padded(head.len()) + body);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(kind as u16).to_le_bytes());
    bytes.extend_from_slice(&(head.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(arrays.len() as u32).to_le_bytes());
    for array in arrays {
        bytes.extend_from_slice(&array.tag().to_le_bytes());
        bytes.extend_from_slice(&(array.bytes().len() as u32).to_le_bytes());
    }
    for part in std::iter::once(&head[..]).chain(arrays.iter().map(Array::bytes)) {
        bytes.extend_from_slice(part);
        bytes.resize(padded(bytes.len()), 0);
    }
    bytes.into()
}

wire! {
    /// What the page asks for.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case", deny_unknown_fields)]
    pub enum Request {
        /// What to show from now on. Only the newest counts.
        View(Box<View>),
        /// This frame is on the screen; the engine runs at most one frame ahead of it.
        Drawn {
            /// Its number.
            frame: u64,
        },
        /// Changes of the anatomy that are one step of undo.
        Edit {
            /// In this order; all or none.
            edits: Vec<Edit>,
            /// Edits of the same drag replace each other.
            #[serde(default)]
            drag: Option<u64>,
        },
        /// Takes the last step back.
        Undo,
        /// Makes it again.
        Redo,
        /// Writes the anatomy file.
        Save {
            /// Where; `None` for where it came from.
            path: Option<String>,
            /// Whether the user said yes to an existing file or another folder.
            #[serde(default)]
            confirmed: bool,
        },
        /// Reads another anatomy file in place of this one; can be undone.
        Load {
            /// From where.
            path: String,
        },
        /// Puts a text in place of the anatomy: a page that kept its changes while the engine was restarted.
        Restore {
            /// An anatomy file's text.
            text: String,
        },
        /// Takes up the edits that an earlier run did not save.
        Recover,
        /// Gives them up.
        GiveUp,
        /// Writes a cache.
        Bake(BakeOrder),
        /// Stops the bake.
        CancelBake,
        /// Asks for operator and controller of a joint.
        Graph {
            /// By name.
            joint: String,
        },
        /// The page has the character of that number, and talks of it from now on.
        Ready {
            /// As the character's message says.
            character: u64,
        },
        /// Opens a character in place of this one.
        Open(OpenOrder),
        /// Gives up what is being opened.
        GiveUpOpening,
        /// Keeps what the user is used to (which buttons turn the view, whether the tour was seen) for the next run.
        Habits {
            /// The page's own affair.
            habits: serde_json::Value,
        },
        /// Asks what is in a folder.
        Folder {
            /// From the root, or from the folder the studio was started in; a file stands for its folder.
            path: Option<String>,
            /// The endings of files that are listed, without the dot.
            endings: Vec<String>,
        },
        /// Puts the text of a file that was dropped in place of the anatomy; can be undone.
        Take {
            /// The file's name, for messages.
            name: String,
            /// What it says.
            text: String,
        },
        /// Keeps a pose in the anatomy's folder.
        KeepPose(KeptPose),
        /// Takes a pose out of it.
        RemovePose {
            /// What it is called.
            name: String,
        },
    }
}

wire! {
    /// What to open.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct OpenOrder {
        /// A file or `sample:NAME`; `None` for the character that is open, with another motion.
        pub character: Option<String>,
        /// The anatomy file.
        #[serde(default)]
        pub anatomy: Option<String>,
        /// The file of the motion.
        #[serde(default)]
        pub motion: Option<String>,
        /// The batch of dropped files that these are in; `None` for files of this machine.
        #[serde(default)]
        pub batch: Option<String>,
    }
}

wire! {
    /// What to bake.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct BakeOrder {
        /// Cache to write; its extension chooses the format.
        pub path: String,
        /// Clip by name; the rest pose without.
        pub clip: Option<String>,
        /// The method.
        pub method: Look,
        /// Corrective smoothing over it.
        #[serde(default)]
        pub smooth: Option<smooth::Settings>,
        /// Frames per second; the clip's own without.
        pub fps: Option<f32>,
        /// Whether the user said yes to an existing file or another folder.
        #[serde(default)]
        pub confirmed: bool,
    }
}

wire! {
    /// How the skin is deformed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Look {
        /// Linear blending.
        Lbs,
        /// Dual quaternions.
        Dqs,
        /// Centres of rotation.
        Cor,
        /// Dual quaternions, displaced by parametric muscles.
        Parametric,
        /// Tracking of the field.
        Implicit,
        /// The same over muscles and fat.
        Muscles,
    }
}

wire! {
    /// What a page shows.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct View {
        /// Comes back with the frames that show it.
        pub id: u64,
        /// Clip by name; the rest pose without.
        pub clip: Option<String>,
        /// Whether the clip plays.
        pub playing: bool,
        /// Where in the clip, frames from its start; `None` lets the clock go on.
        pub at: Option<f64>,
        /// 1 is the clip's own speed.
        pub speed: f64,
        /// Start again at the end.
        pub repeat: bool,
        /// Joints turned by hand: number and rotation relative to the parent (x, y, z, w).
        pub pose: Vec<(usize, [f32; 4])>,
        /// One, or two to compare.
        pub looks: Vec<Look>,
        /// Corrective smoothing over each of them.
        #[serde(default)]
        pub smooth: Option<smooth::Settings>,
        /// A quantity of [`ecorche::inspect`] to colour the first by.
        pub quantity: Option<String>,
        /// A drawn vertex whose path through the frame is sent.
        pub trace: Option<u32>,
        /// What to show under the skin.
        pub inside: InsideRequest,
        /// Whether the clip is judged in the background.
        #[serde(default)]
        pub judged: bool,
    }
}

wire! {
    /// What to show under the skin.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct InsideRequest {
        /// Muscles and fat.
        pub flesh: bool,
        /// Points the fields go through.
        pub samples: Option<Bone>,
        /// The surface of one value.
        pub surface: Option<SurfaceLook>,
        /// A plane through the field.
        pub slice: Option<SliceLook>,
    }
}

wire! {
    /// One bone, or all.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Bone {
        /// By the name of its joint; `None` for the whole body.
        pub bone: Option<String>,
    }
}

wire! {
    /// A surface of the field.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct SurfaceLook {
        /// By the name of its joint; `None` for the whole body.
        pub bone: Option<String>,
        /// Value, from 0 to 1.
        pub level: f32,
    }
}

wire! {
    /// A plane through the field.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct SliceLook {
        /// `x`, `y` or `z`.
        pub axis: String,
        /// Metres along it.
        pub at: f32,
        /// By the name of its joint; `None` for the whole body.
        pub bone: Option<String>,
    }
}

/// Reads a text of the page.
pub fn decode(text: &str) -> Result<Request, String> {
    if text.len() > LARGEST_TEXT {
        return Err(format!("{} bytes are more than any request has", text.len()));
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_holds_its_head_and_its_arrays_at_multiples_of_four() {
        let bytes = encode(Kind::Frame, &"né", &[Array::U8(&[1, 2, 3]), Array::F32(&[0.5])]);
        assert_eq!(&bytes[..4], MAGIC);
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((word(8), word(12)), (5, 2));
        assert_eq!([word(16), word(20), word(24), word(28)], [4, 3, 1, 4]);
        let head = 32;
        assert_eq!(&bytes[head..head + 5], "\"né\"".as_bytes());
        assert_eq!(&bytes[head + 8..head + 11], &[1, 2, 3]);
        assert_eq!(word(head + 12), 0.5f32.to_bits());
        assert_eq!(bytes.len(), head + 16);
    }

    #[test]
    fn requests_read_as_the_page_writes_them_and_others_are_refused() {
        assert_eq!(decode("\"undo\""), Ok(Request::Undo));
        assert_eq!(decode("{\"drawn\":{\"frame\":7}}"), Ok(Request::Drawn { frame: 7 }));
        let edit = r#"{"edit":{"edits":[{"set":{"target":"skin","field":"gap","value":0.03}}],"drag":2}}"#;
        assert!(matches!(decode(edit), Ok(Request::Edit { drag: Some(2), .. })));
        for wrong in
            ["", "{}", "[]", "\"quit\"", "{\"drawn\":{\"frame\":-1}}", "{\"undo\":null,\"redo\":null}"]
        {
            assert!(decode(wrong).is_err(), "{wrong}");
        }
        assert!(decode(&" ".repeat(LARGEST_TEXT + 1)).is_err());
        assert!(decode(&"[".repeat(10_000)).is_err(), "deep nesting ends in an error");
    }
}
