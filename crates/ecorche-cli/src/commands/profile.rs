//! `ecorche profile`: a drawn muscle to a profile.

use super::write_png;
use crate::arguments::ProfileArguments;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::input;
use ecorche::muscle::sketch::{self, Silhouette, SketchFit};
use ecorche::output::file;
use ecorche::output::sketch_graph::sketch_graph;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Pixels of the drawing in the picture.
const SIDE: usize = 480;

/// Fits the drawings, prints the fits and writes the lines and the pictures.
pub fn run(arguments: &ProfileArguments, console: &Console) -> Result<Outcome, Failure> {
    if let Some(length) = arguments.length.filter(|l| !(*l > 0.0 && l.is_finite())) {
        return Err(format!("a length of {length} is out of range; give metres above 0").into());
    }
    let sketches: Vec<&Path> =
        [Some(&arguments.sketch), arguments.tense.as_ref()].into_iter().flatten().map(|p| &**p).collect();
    let lines = arguments.output.clone().unwrap_or_else(|| arguments.sketch.with_extension("toml"));
    let pictures: Vec<PathBuf> = (0..sketches.len())
        .map(|k| beside(&lines, if k == 0 { "_fit.png" } else { "_tense_fit.png" }))
        .collect();
    let inputs: Vec<PathBuf> = sketches.iter().map(|p| p.to_path_buf()).collect();
    let outputs: Vec<PathBuf> = pictures.iter().chain([&lines]).cloned().collect();
    source::protect_inputs(&inputs, &outputs)?;
    source::keep_existing(&lines, arguments.force)?;
    let mut found = Vec::new();
    for path in &sketches {
        let named = |error: String| format!("{}: {error}", path.display());
        let bytes = input::read(path).map_err(|error| named(error.to_string()))?;
        let shape = Silhouette::from_png(&bytes).map_err(|error| named(error.to_string()))?;
        let fit = sketch::fit(&shape).map_err(|error| named(error.to_string()))?;
        if shape.specks > 0 {
            let some = if shape.specks == 1 { "one speck" } else { "some specks" };
            console.note(&format!("{}: {some} beside the shape left out", path.display()));
        }
        console.print(describe(path, &fit))?;
        found.push((shape, fit));
    }
    let fits: Vec<&SketchFit> = found.iter().map(|f| &f.1).collect();
    let text = toml(&sketches, &fits, arguments.length);
    for ((shape, fit), path) in found.iter().zip(&pictures) {
        write_png(path, &sketch_graph(shape, fit, SIDE), console)?;
    }
    console.print_path(&file::write(&lines, text.as_bytes())?)?;
    Ok(Outcome::Done)
}

/// `folder/name.toml` to `folder/nameENDING`.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(ending);
    path.with_file_name(name)
}

fn describe(path: &Path, fit: &SketchFit) -> String {
    let ([start, end], length) = (fit.ends, fit.length());
    let turned = (end - start).to_angle().to_degrees();
    let SketchFit { sines, beta, .. } = fit;
    let mut text = format!(
        "{}: axis from ({:.1}, {:.1}) to ({:.1}, {:.1}), {turned:.1} degrees, {length:.1} pixels\n",
        path.display(),
        start.x,
        start.y,
        end.x,
        end.y,
    );
    let mut row = |name: String, radius: f64, length: f64, residual: f64, overlap: f64| {
        // Writing to a String does not fail.
        let _ = writeln!(
            text,
            "  {name:12} mean radius {radius:.2} pixels, {:.4} of its length of {length:.1}; misses {:.1} %, overlap {:.1} %",
            radius / length,
            1e2 * residual,
            1e2 * overlap,
        );
    };
    row(format!("{} sines", sines.weights.len()), sines.radius, length, sines.residual, sines.overlap);
    row(format!("beta {:?}", beta.pair), beta.radius, beta.length(), beta.residual, beta.overlap);
    text
}

/// Lines for a `[[muscle]]`: by beta pairs, and by sines in a comment.
fn toml(paths: &[&Path], fits: &[&SketchFit], length: Option<f64>) -> String {
    let names: Vec<String> =
        paths.iter().map(|p| p.display().to_string().escape_default().to_string()).collect();
    let rest = fits[0];
    let mut text = format!("# For a [[muscle]], from {}.\n", names.join(" and "));
    let share = rest.beta.radius / rest.beta.length();
    // Writing to a String does not fail.
    let _ = match length {
        Some(length) => writeln!(text, "width = {:.4}", share * length),
        None => writeln!(text, "# width = {share:.4} times its length in metres"),
    };
    let active = fits.get(1).map_or_else(|| rest.beta.tense(), |tense| tense.beta.pair);
    let _ = writeln!(text, "profile = {{ rest = {:?}, active = {active:?} }}", rest.beta.pair);
    if fits.len() == 1 {
        let _ = writeln!(text, "# active: no drawing; powers twice those of rest.");
    }
    let sines = |fit: &SketchFit| format!("{{ sines = {:?} }}", fit.sines.weights);
    let active = fits.get(1).map_or_else(|| format!("{active:?}"), |tense| sines(tense));
    let _ = writeln!(
        text,
        "\n# As sines, which are slower ({:.1} % missed, beta {:.1} %):",
        1e2 * rest.sines.residual,
        1e2 * rest.beta.residual,
    );
    let share = rest.sines.radius / rest.length();
    let _ = match length {
        Some(length) => writeln!(text, "# width = {:.4}", share * length),
        None => writeln!(text, "# width = {share:.4} times its length in metres"),
    };
    let _ = writeln!(text, "# profile = {{ rest = {}, active = {active} }}", sines(rest));
    text
}
