//! Drawn frames on one picture.

use crate::deform::Stack;
use crate::output::Picture;
use crate::output::legend::Legend;
use crate::output::sheet::Sheet;
use crate::sampling::Plan;

/// A single picture as it is; methods as columns; otherwise frames left to right.
pub fn contact_sheet(
    pictures: Vec<Vec<Picture>>,
    methods: &[Stack],
    numbers: &[usize],
    plan: &Plan,
    legend: &Option<Legend>,
) -> Picture {
    let single = numbers.len() == 1 && methods.len() == 1;
    if single && legend.is_none() {
        return pictures.into_iter().flatten().next().unwrap_or_else(|| Sheet::new(1).compose());
    }
    let frame_label = |n: &usize| if plan.clip.is_some() { format!("frame {n}") } else { "rest".to_owned() };
    let mut sheet = if methods.len() > 1 {
        Sheet::new(methods.len())
            .column_labels(methods.iter().map(Stack::to_string))
            .row_labels(numbers.iter().map(frame_label))
    } else {
        Sheet::new(numbers.len().min(6))
    };
    for (n, row) in numbers.iter().zip(pictures) {
        for picture in row {
            sheet = sheet
                .panel(picture, &if methods.len() > 1 || single { String::new() } else { frame_label(n) });
        }
    }
    if let Some(legend) = legend {
        sheet = sheet.legend(legend.clone());
    }
    sheet.compose()
}

/// One frame under several methods, with the legend if there is one; a single picture as it is.
pub fn side_by_side(mut row: Vec<Picture>, methods: &[Stack], legend: &Option<Legend>) -> Picture {
    if row.len() == 1 && legend.is_none() {
        return row.swap_remove(0);
    }
    let mut sheet = Sheet::new(row.len());
    for (picture, method) in row.into_iter().zip(methods) {
        sheet = sheet.panel(picture, &method.to_string());
    }
    if let Some(legend) = legend {
        sheet = sheet.legend(legend.clone());
    }
    sheet.compose()
}

/// At most `most` frames of the plan, first and last among them.
pub fn spread(plan: &Plan, most: usize) -> Vec<usize> {
    let (first, count) = (*plan.frames.start(), plan.len());
    let shown = count.min(most).max(1);
    (0..shown).map(|i| first + (i * (count - 1)) / (shown - 1).max(1)).collect()
}
