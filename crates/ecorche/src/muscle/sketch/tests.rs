use super::*;
use crate::muscle::Profile;
use glam::DVec2;

/// A muscle drawn by code: axis from `a` to `b`, pixels, `[w, h]` the picture's size, 16 samples to a pixel.
struct Drawing {
    size: [usize; 2],
    ends: [DVec2; 2],
    /// Mean radius over length.
    share: f64,
    profile: Profile,
}

impl Drawing {
    fn beta(pair: [u8; 2], side: usize, degrees: f64) -> Self {
        let middle = DVec2::splat(0.5 * side as f64);
        let half = 0.4 * side as f64 * DVec2::from_angle(degrees.to_radians());
        let profile = Profile::beta(pair[0], pair[1]).unwrap();
        Self { size: [side; 2], ends: [middle - half, middle + half], share: 0.1, profile }
    }

    fn length(&self) -> f64 {
        self.ends[0].distance(self.ends[1])
    }

    /// How far outside a point is, pixels across the axis.
    fn outside(&self, p: DVec2) -> f64 {
        let along = (self.ends[1] - self.ends[0]).normalize();
        let (t, far) = ((p - self.ends[0]).dot(along), (p - self.ends[0]).perp_dot(along).abs());
        let s = t / self.length();
        if (0.0..=1.0).contains(&s) {
            far - self.share * self.length() * self.profile.value(s).0
        } else {
            1e9
        }
    }

    /// Brightness by how far outside each sample is.
    fn grey(&self, is_ink: impl Fn(f64) -> bool) -> Vec<f32> {
        let [width, height] = self.size;
        let pixel = |i: usize| {
            let at = |k: usize| DVec2::new((k % 4) as f64 + 0.5, (k / 4) as f64 + 0.5) / 4.0;
            let corner = DVec2::new((i % width) as f64, (i / width) as f64);
            let ink = (0..16).filter(|&k| is_ink(self.outside(corner + at(k)))).count();
            255.0 - 15.9375 * ink as f32
        };
        (0..width * height).map(pixel).collect()
    }

    fn filled(&self) -> Silhouette {
        Silhouette::from_grey(self.size[0], self.size[1], &self.grey(|far| far < 0.0)).unwrap()
    }
}

#[test]
fn a_drawn_beta_profile_is_found_again() {
    for (pair, degrees) in [([3u8, 5u8], 63.0), ([3, 3], 90.0), ([2, 4], 20.0), ([5, 4], 110.0)] {
        let drawing = Drawing::beta(pair, 400, degrees);
        let found = fit(&drawing.filled()).unwrap();
        assert_eq!(found.beta.pair, pair, "{found:?}");
        let turned = (found.ends[1] - found.ends[0]).angle_to(drawing.ends[1] - drawing.ends[0]);
        assert!(turned.to_degrees().abs() < 0.2, "{pair:?}: axis turned by {}", turned.to_degrees());
        let length = found.beta.length() / drawing.length();
        assert!((length - 1.0).abs() < 0.02, "{pair:?}: length off by a factor of {length}");
        let volume = found.beta.radius.powi(2) * found.beta.length()
            / (drawing.share.powi(2) * drawing.length().powi(3));
        assert!((volume - 1.0).abs() < 0.01, "{pair:?}: volume off by a factor of {volume}");
        assert!(found.beta.residual < 0.01 && found.beta.overlap > 0.985, "{:?}", found.beta);
        assert!(found.sines.residual < 0.02 && found.sines.overlap > 0.98, "{:?}", found.sines);
    }
}

#[test]
fn a_hundred_pixels_are_enough() {
    let drawing = Drawing::beta([3, 5], 100, 30.0);
    let found = fit(&drawing.filled()).unwrap();
    let volume =
        found.beta.radius.powi(2) * found.beta.length() / (drawing.share.powi(2) * drawing.length().powi(3));
    assert!((volume - 1.0).abs() < 0.03 && found.beta.residual < 0.03, "{volume} {:?}", found.beta);
    assert!(found.beta.pair.iter().zip([3u8, 5]).all(|(a, b)| a.abs_diff(b) <= 1), "{:?}", found.beta);
}

#[test]
fn an_outline_and_light_ink_give_the_filled_shape() {
    let drawing = Drawing::beta([3, 3], 200, 75.0);
    let filled = fit(&drawing.filled()).unwrap();
    let outline = drawing.grey(|far| far.abs() < 1.5);
    let outlined = fit(&Silhouette::from_grey(200, 200, &outline).unwrap()).unwrap();
    // The stroke lies half outside; its tips make the shape longer, so mean radii are not compared.
    let [outer, inner] = [&outlined, &filled].map(|fit| fit.radii.iter().copied().fold(0.0, f64::max));
    assert!((outer - inner - 1.5).abs() < 0.4, "{outer} {inner}");
    let light: Vec<f32> = drawing.grey(|far| far < 0.0).iter().map(|g| 255.0 - g).collect();
    let light = fit(&Silhouette::from_grey(200, 200, &light).unwrap()).unwrap();
    assert!((light.sines.radius - filled.sines.radius).abs() < 1e-3);
}

#[test]
fn sines_of_a_blunt_shape_can_be_used_in_a_file() {
    // A box: a jump at each end, where few sines ring.
    let mut grey = vec![255.0; 200 * 100];
    (0..200 * 100)
        .filter(|i| (20..180).contains(&(i % 200)) && (40..60).contains(&(i / 200)))
        .for_each(|i| grey[i] = 0.0);
    let found = fit(&Silhouette::from_grey(200, 100, &grey).unwrap()).unwrap();
    let weights: Vec<f64> = found.sines.weights.iter().map(|&c| c.into()).collect();
    assert!(Profile::sines(&weights).is_ok());
    assert!((found.length() - 160.0).abs() < 1.1 && found.ends[0].x < found.ends[1].x, "{:?}", found.ends);
}

#[test]
fn what_is_no_sketch_is_refused_with_a_remedy() {
    let refused = |width: usize, height: usize, is_ink: &dyn Fn(usize, usize) -> bool| {
        let grey: Vec<f32> =
            (0..width * height).map(|i| if is_ink(i % width, i / width) { 0.0 } else { 255.0 }).collect();
        Silhouette::from_grey(width, height, &grey).and_then(|shape| fit(&shape)).unwrap_err().to_string()
    };
    let bar = |x: usize, y: usize| (20..80).contains(&x) && (40..50).contains(&y);
    assert!(refused(100, 100, &|_, _| false).contains("is empty"));
    assert!(refused(100, 100, &|_, _| true).contains("is empty"));
    let two = refused(100, 100, &|x, y| bar(x, y) || bar(x, y + 20));
    assert!(two.contains("2 shapes, of 600, 600 pixels"), "{two}");
    assert!(refused(70, 100, &bar).contains("touches the border"));
    assert!(refused(100, 100, &|x, y| (45..55).contains(&x) && y == 50).contains("too small"));
    assert!(refused(100, 100, &|x, y| (30..70).contains(&x) && (30..70).contains(&y)).contains("no axis"));
    let arc = |x: usize, y: usize| {
        let far = DVec2::new(x as f64 - 50.0, y as f64 - 80.0).length();
        (30.0..36.0).contains(&far) && y < 80
    };
    assert!(refused(100, 100, &arc).contains("close the outline"));
    assert!(Silhouette::from_png(b"GIF89a").unwrap_err().to_string().contains("PNG"));
}

#[test]
fn a_speck_is_left_out() {
    let drawing = Drawing::beta([3, 3], 200, 75.0);
    let mut grey = drawing.grey(|far| far < 0.0);
    [2020, 2021].iter().for_each(|&i| grey[i] = 0.0);
    let shape = Silhouette::from_grey(200, 200, &grey).unwrap();
    assert_eq!((shape.specks, shape.coverage[2020]), (1, 0.0));
}
