//! What a deformation is made of.

use crate::anatomy::TrackingDef;
use crate::skinning::Skinning;
use crate::surface::{LayerDef, LayerError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The layers of a deformation, in the order in which a frame runs through them: what lies under the skin moves,
/// skinning moves the vertices, tracking brings them to their place, layers on the surface displace them.
///
/// Common stacks have names, see [`Stack::NAMES`], and are saved by them. The default is [`Stack::implicit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Stack {
    /// How the motions of the joints are blended: the result without tracking, its start with one.
    pub skinning: Skinning,
    /// How vertices are brought to their place in the fields of the body's parts, so that skin touches skin. `None`:
    /// they stay where skinning takes them.
    pub tracking: Option<Tracking>,
    /// What lies under the skin and shapes it.
    pub under: Under,
    /// What lies on the surface, in order.
    pub surface: Vec<LayerDef>,
}

/// What lies under the skin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Under {
    /// Nothing; an anatomy's muscles and fat are ignored.
    #[default]
    Nothing,
    /// The anatomy's muscles and fat, which bulge and swing. Without an anatomy the same as [`Under::Nothing`].
    Flesh,
    /// The anatomy's parametric muscles, which displace what skinning leaves; made from its muscles where it has none.
    Parametric,
}

/// How vertices are brought to their place, see [`crate::tracking`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tracking {
    /// [`robust`](crate::tracking::robust): one shot, any pose.
    #[default]
    #[serde(rename = "robust")]
    Robust,
    /// [`scheme_2012`](crate::tracking::papers::scheme_2012): one shot, bends up to 90 degrees; to compare with.
    #[serde(rename = "2012")]
    Scheme2012,
    /// [`scheme_2014`](crate::tracking::papers::scheme_2014): in substeps from bind to the pose, or from the frame before; to compare
    /// with.
    #[serde(rename = "2014")]
    Scheme2014,
}

/// A stack that cannot be bound.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StackError {
    /// A start that the scheme cannot go on from.
    #[error(
        "{stack}: the tracking of 2014 carries vertices from pose to pose, which has no fixed centres of rotation; start from dqs \
         or lbs"
    )]
    Start {
        /// The stack.
        stack: Stack,
    },
    /// Muscles and fat without tracking, which brings the skin onto them.
    #[error(
        "{stack}: skin follows muscles and fat only with tracking; choose the method muscles, or nothing under the skin"
    )]
    Under {
        /// The stack.
        stack: Stack,
    },
    /// Parametric muscles under tracking.
    #[error(
        "{stack}: parametric muscles displace what skinning leaves; choose no tracking, or the method muscles"
    )]
    Parametric {
        /// The stack.
        stack: Stack,
    },
    /// A layer on the surface has a setting out of range.
    #[error(transparent)]
    Surface(#[from] LayerError),
}

impl Stack {
    /// The names of common stacks, in the order of the documentation.
    pub const NAMES: [&str; 6] = ["lbs", "dqs", "cor", "implicit", "muscles", "parametric"];

    /// `lbs`: linear blending of matrices.
    pub fn linear() -> Self {
        Self::skinned(Skinning::Linear)
    }

    /// `dqs`: blending of dual quaternions.
    pub fn dual_quaternion() -> Self {
        Self::skinned(Skinning::DualQuaternion)
    }

    /// `cor`: rotation about optimised centres.
    pub fn centre_of_rotation() -> Self {
        Self::skinned(Skinning::CentreOfRotation)
    }

    /// `implicit`: dual quaternions, then robust tracking.
    pub fn implicit() -> Self {
        Self { tracking: Some(Tracking::Robust), ..Self::dual_quaternion() }
    }

    /// `muscles`: as `implicit`, over muscles and fat.
    pub fn muscles() -> Self {
        Self { under: Under::Flesh, ..Self::implicit() }
    }

    /// `parametric`: dual quaternions, then parametric muscles.
    pub fn parametric() -> Self {
        Self { under: Under::Parametric, ..Self::dual_quaternion() }
    }

    fn skinned(skinning: Skinning) -> Self {
        Self { skinning, tracking: None, under: Under::Nothing, surface: Vec::new() }
    }

    /// Every stack that has a name, in the order of [`Stack::NAMES`].
    pub fn common() -> [Self; 6] {
        [
            Self::linear(),
            Self::dual_quaternion(),
            Self::centre_of_rotation(),
            Self::implicit(),
            Self::muscles(),
            Self::parametric(),
        ]
    }

    /// The common stack of that name, in any case; `lbs+parametric` and `cor+parametric` put parametric muscles on another
    /// skinning.
    pub fn named(name: &str) -> Result<Self, UnknownName> {
        if let Some((skinning, parametric)) = name.split_once('+')
            && parametric.trim().eq_ignore_ascii_case("parametric")
            && let Ok(under) = Self::named(skinning.trim())
            && under.tracking.is_none()
            && under.under == Under::Nothing
        {
            return Ok(Self { under: Under::Parametric, ..under });
        }
        let at = Self::NAMES.iter().position(|known| known.eq_ignore_ascii_case(name));
        let stack = at.and_then(|i| Self::common().into_iter().nth(i));
        stack.ok_or_else(|| UnknownName::new("method", name, &Self::NAMES))
    }

    /// The name of a common stack.
    fn name(&self) -> Option<&'static str> {
        Self::common().iter().zip(Self::NAMES).find(|(common, _)| *common == self).map(|(_, name)| name)
    }

    /// The same stack with another tracking scheme; a stack without tracking stays without.
    #[must_use]
    pub fn with_tracking(mut self, tracking: Tracking) -> Self {
        self.tracking = self.tracking.map(|_| tracking);
        self
    }

    /// The same stack with tracking that starts from another skinning; a stack without tracking stays as it is.
    #[must_use]
    pub fn with_start(mut self, start: Skinning) -> Self {
        if self.tracking.is_some() {
            self.skinning = start;
        }
        self
    }

    /// Whether tracking can start from the frame before ([`Settings::coherent`](super::Settings)): the scheme of 2012 is one shot
    /// from skinning.
    pub fn continues(&self) -> bool {
        matches!(self.tracking, Some(Tracking::Robust | Tracking::Scheme2014))
    }

    /// Whether the layers fit together.
    pub fn check(&self) -> Result<(), StackError> {
        if self.tracking == Some(Tracking::Scheme2014) && self.skinning == Skinning::CentreOfRotation {
            return Err(StackError::Start { stack: self.clone() });
        }
        if self.under == Under::Flesh && self.tracking.is_none() {
            return Err(StackError::Under { stack: self.clone() });
        }
        if self.under == Under::Parametric && self.tracking.is_some() {
            return Err(StackError::Parametric { stack: self.clone() });
        }
        self.surface.iter().try_for_each(LayerDef::check)?;
        Ok(())
    }
}

/// A stack in a file: the name of a common one, or its layers.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Name(String),
    Layers(Layers),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layers {
    skinning: Skinning,
    #[serde(default)]
    tracking: Option<Tracking>,
    #[serde(default)]
    under: Under,
    #[serde(default)]
    surface: Vec<LayerDef>,
}

impl From<Stack> for Written {
    fn from(stack: Stack) -> Self {
        if let Some(name) = stack.name() {
            return Self::Name(name.to_owned());
        }
        let Stack { skinning, tracking, under, surface } = stack;
        Self::Layers(Layers { skinning, tracking, under, surface })
    }
}

impl TryFrom<Written> for Stack {
    type Error = UnknownName;

    fn try_from(written: Written) -> Result<Self, UnknownName> {
        match written {
            Written::Name(name) => Self::named(&name),
            Written::Layers(Layers { skinning, tracking, under, surface }) => {
                Ok(Self { skinning, tracking, under, surface })
            }
        }
    }
}

impl Default for Stack {
    fn default() -> Self {
        Self::implicit()
    }
}

/// The name of a common stack and what lies on it, as in `dqs + smooth`; otherwise all layers, as in
/// `dqs + 2014 tracking`.
impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare = Self { surface: Vec::new(), ..self.clone() };
        if let Some(name) = bare.name() {
            f.write_str(name)?;
        } else {
            self.skinning.fmt(f)?;
            if let Some(tracking) = self.tracking {
                write!(f, " + {tracking} tracking")?;
            }
            f.write_str(match self.under {
                Under::Nothing => "",
                Under::Flesh => " + muscles",
                Under::Parametric => " + parametric",
            })?;
        }
        self.surface.iter().try_for_each(|layer| write!(f, " + {layer}"))
    }
}

impl FromStr for Stack {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::named(name)
    }
}

impl Tracking {
    /// Every scheme.
    pub const ALL: [Self; 3] = [Self::Robust, Self::Scheme2012, Self::Scheme2014];

    /// The operator that joins parts unless another is named: the paper of 2012 blends them, the others keep them
    /// apart.
    pub fn operator(self) -> &'static str {
        match self {
            Self::Scheme2012 => "blend",
            Self::Robust | Self::Scheme2014 => "contact",
        }
    }
}

impl From<TrackingDef> for Tracking {
    fn from(named: TrackingDef) -> Self {
        match named {
            TrackingDef::Robust => Self::Robust,
            TrackingDef::Paper2012 => Self::Scheme2012,
            TrackingDef::Paper2014 => Self::Scheme2014,
        }
    }
}

impl fmt::Display for Tracking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Robust => "robust",
            Self::Scheme2012 => "2012",
            Self::Scheme2014 => "2014",
        })
    }
}

impl FromStr for Tracking {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let known = Self::ALL.map(|scheme| scheme.to_string());
        let found = Self::ALL.into_iter().zip(&known).find(|(_, known)| known.eq_ignore_ascii_case(name));
        found
            .map(|(scheme, _)| scheme)
            .ok_or_else(|| UnknownName::new("tracking scheme", name, &known.each_ref().map(String::as_str)))
    }
}

/// An unknown name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {what} is called \"{name}\"; choose among {known}")]
pub struct UnknownName {
    what: &'static str,
    name: String,
    known: String,
}

impl UnknownName {
    fn new(what: &'static str, name: &str, known: &[&str]) -> Self {
        Self { what, name: name.to_owned(), known: known.join(", ") }
    }
}
