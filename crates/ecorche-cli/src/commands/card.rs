//! The graphics card of `ecorche crowd --gpu`, if this program was built for one.

use crate::console::Console;
use ecorche::crowd::{Crowd, CrowdReport};
use ecorche::output::Picture;
use ecorche::output::raster::View;
use glam::Vec3;

/// A card that deforms a crowd, or projects what its characters track.
pub enum Card {
    /// All of it.
    #[cfg(feature = "gpu")]
    Crowd { name: String, crowd: Box<ecorche_gpu::GpuCrowd> },
    /// The projections of tracked skin; the rest stays on the processor.
    #[cfg(feature = "gpu")]
    Projections { name: String },
}

impl Card {
    /// The card for a crowd; without one a line says why, and there is the processor.
    pub fn of(crowd: &Crowd, console: &Console) -> Option<Self> {
        match Self::find(crowd) {
            Ok(card) => {
                console.note(&format!("on {}", card.name()));
                Some(card)
            }
            Err(reason) => {
                console.warn(&format!("--gpu: {reason}; using the processor"));
                None
            }
        }
    }
}

#[cfg(not(feature = "gpu"))]
impl Card {
    fn find(_: &Crowd) -> Result<Self, String> {
        Err("this program was built without it (build with --features gpu)".to_owned())
    }

    /// The adapter's own name.
    pub fn name(&self) -> &str {
        match *self {}
    }

    /// Deforms the crowd.
    pub fn frame(&mut self, _: &mut Crowd, _: f32, _: Option<Vec3>) -> Result<CrowdReport, String> {
        match *self {}
    }

    /// The last frame, if it is on the card.
    pub fn picture(&self, _: &Crowd, _: View, _: usize, _: usize) -> Option<Picture> {
        match *self {}
    }
}

#[cfg(feature = "gpu")]
impl Card {
    fn find(crowd: &Crowd) -> Result<Self, String> {
        let gpu = ecorche_gpu::Gpu::new().map_err(|error| error.to_string())?;
        let software = if gpu.is_software() { ", a software driver" } else { "" };
        let name = format!("{}{software}", gpu.name());
        let reason = match ecorche_gpu::GpuCrowd::new(&gpu, crowd) {
            Ok(crowd) => return Ok(Self::Crowd { name, crowd: Box::new(crowd) }),
            Err(error) => error.to_string(),
        };
        let mut offloaded = false;
        for body in crowd.bodies() {
            offloaded |= ecorche_gpu::GpuProjector::offload(&gpu, body).map_err(|error| error.to_string())?;
        }
        if offloaded {
            Ok(Self::Projections { name: format!("{name}, projections only") })
        } else {
            Err(reason)
        }
    }

    /// The adapter's own name.
    pub fn name(&self) -> &str {
        match self {
            Self::Crowd { name, .. } | Self::Projections { name } => name,
        }
    }

    /// Deforms the crowd.
    pub fn frame(&mut self, crowd: &mut Crowd, time: f32, eye: Option<Vec3>) -> Result<CrowdReport, String> {
        match self {
            Self::Crowd { crowd: card, .. } => {
                card.frame(crowd, time, eye).map_err(|error| error.to_string())
            }
            Self::Projections { .. } => Ok(crowd.frame(time, eye)),
        }
    }

    /// The last frame, if it is on the card.
    pub fn picture(&self, crowd: &Crowd, view: View, width: usize, height: usize) -> Option<Picture> {
        match self {
            Self::Crowd { crowd: card, .. } => card.picture(crowd, view, width, height).ok(),
            Self::Projections { .. } => None,
        }
    }
}
