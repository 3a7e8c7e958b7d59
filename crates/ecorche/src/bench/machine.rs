//! The machine the numbers are from: what it is, how fast its memory is, how much of it a process held.

use rayon::prelude::*;
use serde::Serialize;
use std::time::Instant;

/// The machine of a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// As it names itself; empty if it does not.
    pub processor: String,
    /// Logical processors.
    pub processors: usize,
    /// Operating system and architecture.
    pub system: String,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        let list = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = list.lines().find_map(|l| l.strip_prefix("model name")).and_then(|l| l.split_once(':'));
        Self {
            processor: name.map_or(String::new(), |(_, name)| name.trim().to_owned()),
            processors: std::thread::available_parallelism().map_or(1, Into::into),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

/// Megabytes a process holds, from its own page in `/proc`; `None` where there is none.
fn held(key: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(key))?;
    line.trim_start_matches(':').split_whitespace().next()?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}

/// Megabytes this process holds now.
pub(super) fn memory() -> Option<f64> {
    held("VmRSS")
}

/// The most megabytes this process held since [`forget_peak`].
pub(super) fn peak_memory() -> Option<f64> {
    held("VmHWM")
}

/// Resets the peak. Without the permission to do so the peak stays that of the whole process.
pub(super) fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Bytes per second between memory and the threads of the current pool, reading two streams and writing one, best of
/// several runs. `megabytes` per stream: more than the caches hold, or it is their speed that is measured.
pub(super) fn bandwidth(megabytes: usize) -> f64 {
    const CHUNK: usize = 1 << 14;
    let count = megabytes << 18;
    let (a, b) = (vec![1.0f32; count], vec![2.0f32; count]);
    let mut sum = vec![0.0f32; count];
    let mut best = f64::MAX;
    for _ in 0..6 {
        let start = Instant::now();
        sum.par_chunks_mut(CHUNK).zip(a.par_chunks(CHUNK)).zip(b.par_chunks(CHUNK)).for_each(
            |((sum, a), b)| {
                for i in 0..sum.len() {
                    sum[i] = a[i] + 0.5 * b[i];
                }
            },
        );
        best = best.min(start.elapsed().as_secs_f64());
        std::hint::black_box(&mut sum);
    }
    (3 * 4 * count) as f64 / best
}

/// Milliseconds of arithmetic that needs no memory, shared out evenly to the threads of the current pool, best of several
/// runs: what more threads can gain at most.
pub(super) fn arithmetic() -> f64 {
    const PIECES: u32 = 64;
    let piece = |seed: u32| {
        let mut x = [seed as f32; 8];
        for _ in 0..40_000 {
            x = x.map(|x| 0.5 * x + 1.0);
        }
        x[0]
    };
    let run = || {
        let sum: f32 = (0..PIECES).into_par_iter().with_max_len(1).map(piece).sum();
        std::hint::black_box(sum);
    };
    super::play::least(9, run)
}
