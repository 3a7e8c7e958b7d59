//! The kernels alone, by criterion: `cargo bench -p ecorche --bench kernels`.
//!
//! One thread, so that it is the kernel that is timed and not the handing out of work.

use criterion::{Criterion, criterion_group, criterion_main};
use ecorche::bench::kernels;

fn all(criterion: &mut Criterion) {
    // Fails only when a pool exists already, which nothing before this line makes.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(1).build_global();
    for mut kernel in kernels::NAMES.iter().filter_map(|name| kernels::kernel(name)) {
        let title = format!("{}, {}", kernel.name, kernel.amount);
        criterion.bench_function(&title, |bencher| bencher.iter(|| kernel.run()));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = all
}
criterion_main!(benches);
