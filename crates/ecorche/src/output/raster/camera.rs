//! Where a picture is seen from, and how much of the world it holds.

use glam::{BVec3, Vec3};

/// Where the camera looks from. The character stands along Y and faces +Z.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum View {
    /// Half from the side, a little from above; a body longer than wide is seen more from its side.
    #[default]
    Auto,
    /// Towards the face.
    Front,
    /// The character's left side.
    Side,
    /// Towards the back.
    Back,
    /// Half front, half side, a little from above.
    ThreeQuarter,
    /// From the middle of the scene towards the eye; need not be of unit length.
    From(Vec3),
}

/// The name of a view that does not exist.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
#[error("no view is called \"{0}\"; use front, side, back, 3/4 or auto")]
pub struct UnknownView(String);

impl std::str::FromStr for View {
    type Err = UnknownView;

    fn from_str(name: &str) -> Result<Self, UnknownView> {
        match name {
            "auto" => Ok(View::Auto),
            "front" => Ok(View::Front),
            "side" => Ok(View::Side),
            "back" => Ok(View::Back),
            "3/4" => Ok(View::ThreeQuarter),
            _ => Err(UnknownView(name.to_owned())),
        }
    }
}

impl View {
    /// Unit vector from the middle of a scene with these bounds towards the eye.
    pub fn direction(self, (low, high): (Vec3, Vec3)) -> Vec3 {
        let direction = match self {
            View::Front => Vec3::new(0.0, 0.06, 1.0),
            View::Side => Vec3::new(1.0, 0.06, 0.0),
            View::Back => Vec3::new(0.0, 0.06, -1.0),
            View::ThreeQuarter => Vec3::new(0.62, 0.16, 1.0),
            View::Auto => {
                let extent = high - low;
                if extent.z > 1.3 * extent.x {
                    Vec3::new(1.0, 0.22, 0.62)
                } else {
                    Vec3::new(0.62, 0.16, 1.0)
                }
            }
            View::From(direction) => direction,
        };
        direction.try_normalize().unwrap_or(Vec3::Z)
    }
}

/// A perspective camera. Its picture's height decides the scale; the width shows more or less at the sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where the eye is, metres.
    pub eye: Vec3,
    /// Unit axes of the picture: to the right, up, and into it.
    pub right: Vec3,
    /// See [`Camera::right`].
    pub up: Vec3,
    /// See [`Camera::right`].
    pub forward: Vec3,
    /// Half the picture's height at distance one.
    pub half_height: f32,
    /// Middle of what the picture is about; shadows are finest around it.
    pub target: Vec3,
    /// Radius around the target that matters, metres.
    pub reach: f32,
}

/// How to place a camera: the view, the shape of the picture and the room around the subject.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    /// Where the camera looks from.
    pub view: View,
    /// Width over height of the picture.
    pub aspect: f32,
    /// Share of the picture left free on each side, 0 to 0.4.
    pub margin: f32,
    /// Half the picture's height at distance one. The default 0.2 is a lens of 23 degrees: long enough
    /// that hands held forward do not swell.
    pub half_height: f32,
}

impl Default for Framing {
    fn default() -> Self {
        Self { view: View::Auto, aspect: 1.0, margin: 0.07, half_height: 0.2 }
    }
}

impl Framing {
    /// The camera that holds every given frame, so that figures keep their place and size over a clip.
    /// Positions that are not finite are ignored.
    pub fn camera<'a>(&self, frames: impl Iterator<Item = &'a [Vec3]> + Clone) -> Camera {
        let points = || frames.clone().flatten().copied().filter(|p| p.is_finite());
        let (low, high) = points().fold((Vec3::MAX, Vec3::MIN), |(low, high), p| (low.min(p), high.max(p)));
        if low.x > high.x {
            return self.focus(Vec3::ZERO, 1.0);
        }
        let target = 0.5 * (low + high);
        let reach = (0.5 * low.distance(high)).max(1e-6);
        let mut camera = self.towards(self.view.direction((low, high)), target, reach);
        // Each side of the picture is a plane through the eye; the outermost point along each plane's
        // normal decides where the eye can be, and opposite planes meet in it.
        let slope_y = self.half_height * (1.0 - 2.0 * self.margin.clamp(0.0, 0.4));
        let slope_x = slope_y * self.aspect;
        let (mut left, mut right, mut below, mut above) = (f32::MAX, f32::MIN, f32::MAX, f32::MIN);
        for p in points() {
            let p = p - target;
            let (x, y, z) = (p.dot(camera.right), p.dot(camera.up), p.dot(camera.forward));
            left = left.min(x + slope_x * z);
            right = right.max(x - slope_x * z);
            below = below.min(y + slope_y * z);
            above = above.max(y - slope_y * z);
        }
        let back = ((left - right) / (2.0 * slope_x)).min((below - above) / (2.0 * slope_y)).min(-1e-6);
        camera.eye = target
            + camera.right * (0.5 * (left + right))
            + camera.up * (0.5 * (below + above))
            + camera.forward * back;
        camera
    }

    /// The camera that holds a box given by its smallest and largest corner.
    pub fn around(&self, (low, high): (Vec3, Vec3)) -> Camera {
        let corner = |i: u32| Vec3::select(BVec3::new(i & 1 == 0, i & 2 == 0, i & 4 == 0), low, high);
        let corners: Vec<Vec3> = (0..8).map(corner).collect();
        self.camera(std::iter::once(&corners[..]))
    }

    /// A close-up: the ball of `radius` metres around `point` fills the picture up to the margin.
    pub fn focus(&self, point: Vec3, radius: f32) -> Camera {
        let direction = self.view.direction((-Vec3::ONE, Vec3::ONE));
        let mut camera = self.towards(direction, point, radius);
        let slope = self.half_height * self.aspect.min(1.0) * (1.0 - 2.0 * self.margin.clamp(0.0, 0.4));
        camera.eye = point - camera.forward * (radius / slope);
        camera
    }

    fn towards(&self, direction: Vec3, target: Vec3, reach: f32) -> Camera {
        let forward = -direction;
        let right = forward.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::X);
        let up = right.cross(forward);
        Camera { eye: target, right, up, forward, half_height: self.half_height, target, reach }
    }
}

/// Height of the lowest point over all frames: where the ground is.
pub fn ground_height<'a>(frames: impl Iterator<Item = &'a [Vec3]>) -> f32 {
    let lowest = frames.flatten().filter(|p| p.is_finite()).fold(f32::MAX, |low, p| low.min(p.y));
    if lowest == f32::MAX { 0.0 } else { lowest }
}

impl Camera {
    /// Picture coordinates of a point, in a picture of this size: pixels to the right and down, and the
    /// distance along the view. `None` behind the eye or when not finite.
    pub fn project(&self, point: Vec3, width: usize, height: usize) -> Option<Vec3> {
        let p = point - self.eye;
        let distance = p.dot(self.forward);
        let scale = 0.5 * height as f32 / (self.half_height * distance);
        let x = 0.5 * width as f32 + p.dot(self.right) * scale;
        let y = 0.5 * height as f32 - p.dot(self.up) * scale;
        // Beyond a million pixels the arithmetic of coverage has no precision left.
        (distance > 1e-3 * self.reach && x.abs() < 1e6 && y.abs() < 1e6).then_some(Vec3::new(x, y, distance))
    }

    /// Direction, not of unit length, from the eye through the place (`x`, `y`) of a picture of this size.
    pub fn ray(&self, x: f32, y: f32, width: usize, height: usize) -> Vec3 {
        let unit = self.half_height / (0.5 * height as f32);
        self.forward
            + self.right * ((x - 0.5 * width as f32) * unit)
            + self.up * ((0.5 * height as f32 - y) * unit)
    }

    /// Size of a pixel at distance one, metres.
    pub(super) fn pixel_size(&self, height: usize) -> f32 {
        self.half_height / (0.5 * height as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_fits_and_the_tightest_side_touches_the_margin() {
        let frames =
            [vec![Vec3::new(-0.3, 0.0, 0.1), Vec3::new(0.2, 1.8, 0.0)], vec![Vec3::new(1.0, 0.4, -0.6)]];
        for view in [View::Front, View::Side, View::Back, View::ThreeQuarter, View::Auto] {
            let framing = Framing { view, aspect: 0.75, ..Framing::default() };
            let camera = framing.camera(frames.iter().map(|f| &f[..]));
            let mut closest = f32::MAX;
            for &p in frames.iter().flatten() {
                let q = camera.project(p, 300, 400).unwrap();
                closest =
                    closest.min(q.x / 300.0).min(1.0 - q.x / 300.0).min(q.y / 400.0).min(1.0 - q.y / 400.0);
            }
            assert!((closest - framing.margin).abs() < 0.01, "{view:?} {closest}");
        }
    }

    #[test]
    fn a_box_is_held_as_its_corners_are() {
        let (low, high) = (Vec3::new(-0.4, 0.0, -0.2), Vec3::new(0.5, 1.7, 0.3));
        let camera = Framing::default().around((low, high));
        for p in [low, high, low.with_y(1.7), high.with_x(-0.4)] {
            let q = camera.project(p, 100, 100).unwrap();
            assert!(q.x > 5.0 && q.x < 95.0 && q.y > 5.0 && q.y < 95.0, "{q}");
        }
    }

    #[test]
    fn views_are_named_and_others_refused() {
        assert_eq!("3/4".parse(), Ok(View::ThreeQuarter));
        assert!("top".parse::<View>().unwrap_err().to_string().contains("3/4"));
    }

    #[test]
    fn left_of_the_character_is_right_in_a_front_view() {
        let camera = Framing { view: View::Front, ..Framing::default() }.focus(Vec3::ZERO, 1.0);
        assert!(camera.project(Vec3::X, 100, 100).unwrap().x > 50.0);
        assert!(camera.project(Vec3::Y, 100, 100).unwrap().y < 50.0);
    }

    #[test]
    fn nothing_to_see_is_still_a_camera() {
        let camera = Framing::default().camera(std::iter::once(&[Vec3::NAN][..]));
        assert!(camera.eye.is_finite());
        assert_eq!(ground_height(std::iter::empty()), 0.0);
    }
}
