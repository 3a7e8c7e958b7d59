//! Fields alone: the fit, the table, a sample.

use super::kernels::ellipsoid;
use super::play::least;
use super::{Bench, BenchError, Table};
use crate::field::{CompactHrbf, Field, Grid, GridSettings, hrbf};
use crate::output::plot::{Axis, Plot, Series};
use glam::Vec3;

/// Points around an ellipsoid where its field is not zero.
pub(super) fn points(count: usize) -> Vec<Vec3> {
    ellipsoid(count)
        .into_iter()
        .enumerate()
        .map(|(i, s)| s.position * (0.8 + 0.4 * (i % 7) as f32 / 7.0))
        .collect()
}

/// Fit, bake and sample.
pub(super) fn fields(bench: &mut Bench) -> Result<Table, BenchError> {
    let threads = bench.most();
    let mut table = Table::new(
        "fields",
        format!("one limb's field, {threads} threads where work is shared"),
        &[
            "samples",
            "fit (ms)",
            "bake 32 (ms)",
            "bake 64 (ms)",
            "exact sample (ns)",
            "exact, per centre (ns)",
            "table sample (ns)",
            "exact/table",
        ],
    );
    table.source = Some(
        "theirs, for scale: the Rust crate hrbf 0.8 on a machine of this kind takes 7 ms to fit 100 centres and 35 to 170 ns per \
         centre and point; none of the papers tells its times of fitting",
    );
    let (counts, runs): (&[usize], usize) =
        if bench.quick() { (&[50, 100], 1) } else { (&[50, 100, 150, 250, 400], 5) };
    let mut curves = [Vec::new(), Vec::new()];
    for &count in counts {
        let samples = ellipsoid(count);
        let field = |_| BenchError::Field(format!("no field through {count} samples of an ellipsoid"));
        let fitted = hrbf::fit(&samples, 0.06).map_err(field)?;
        let fit = bench.on(threads, || least(runs, || drop(std::hint::black_box(hrbf::fit(&samples, 0.06)))));
        let compact = CompactHrbf::new(fitted, 0.06);
        let bake = |resolution: u32| Grid::bake(&compact, &GridSettings { resolution });
        let baked = [32, 64].map(|resolution| {
            bench.on(threads, || least(runs.min(3), || drop(std::hint::black_box(bake(resolution)))))
        });
        let grid = bake(32).map_err(|e| BenchError::Field(e.to_string()))?;
        let points = points(if bench.quick() { 500 } else { 20_000 });
        let nanoseconds = |field: &dyn Field| {
            let run = || {
                let sum: f32 = points.iter().map(|&p| field.sample(p).value).sum();
                std::hint::black_box(sum);
            };
            1e6 * least(runs, run) / points.len() as f64
        };
        let (exact, tabled) = (nanoseconds(&compact), nanoseconds(&grid));
        curves[0].push([count as f32, fit as f32]);
        curves[1].push([count as f32, baked[0] as f32]);
        table.row([
            count.into(),
            fit.into(),
            baked[0].into(),
            baked[1].into(),
            exact.into(),
            (exact / count as f64).into(),
            tabled.into(),
            (exact / tabled).into(),
        ]);
    }
    table
        .note("an ellipsoid of 12 by 12 by 30 cm; samples on one thread, points in the order of the surface");
    bench.caution(&mut table);
    let series = ["fit", "bake 32"].into_iter().zip(curves);
    table.plots.push(Plot {
        title: "Fitting and tabulating the field of a limb".to_owned(),
        x: Axis::new("samples", ""),
        y: Axis::new("time", "ms"),
        series: series
            .map(|(name, points)| Series { name: name.into(), points, ..Series::default() })
            .collect(),
    });
    Ok(table)
}
