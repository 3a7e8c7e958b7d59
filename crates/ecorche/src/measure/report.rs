//! The figures of several methods side by side, as text.

use super::clip::ClipFigures;
use super::figures::{FIGURES, Figure};
use std::fmt::Write;

/// A table with a row per figure and, for each method, its worst value with the frame, and its mean.
///
/// Figures that are zero everywhere are kept: a zero is a result.
pub fn table(methods: &[(&str, &ClipFigures)]) -> String {
    let mut rows: Vec<Vec<String>> = vec![vec![String::new()], vec!["figure".to_string()]];
    for (method, clip) in methods {
        let frames = clip.frames.len();
        rows[0].extend([(*method).to_string(), String::new(), format!("{frames} frames")]);
        rows[1].extend(["worst", "frame", "mean"].map(str::to_string));
    }
    for figure in FIGURES {
        if methods.iter().all(|(_, clip)| clip.of(figure.name).is_none()) {
            continue;
        }
        let mut row = vec![label(figure)];
        for (_, clip) in methods {
            match clip.of(figure.name) {
                Some(s) => {
                    let mean_decimals = figure.decimals.max(1);
                    row.push(format!("{:.*}", figure.decimals, s.worst));
                    row.push(s.worst_frame.to_string());
                    row.push(format!("{:.*}", mean_decimals, s.mean));
                }
                None => row.extend(["-", "-", "-"].map(str::to_string)),
            }
        }
        rows.push(row);
    }
    aligned(&rows)
}

fn label(figure: &Figure) -> String {
    if figure.unit.is_empty() {
        figure.name.to_string()
    } else {
        format!("{} ({})", figure.name, figure.unit)
    }
}

/// First column left, the others right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, (cell, &w)) in row.iter().zip(&widths).enumerate() {
            // Writing to a string does not fail.
            let _ = if c == 0 { write!(line, "{cell:<w$}") } else { write!(line, "  {cell:>w$}") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
