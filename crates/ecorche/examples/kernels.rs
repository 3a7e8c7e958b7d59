//! Runs one kernel, for a program that counts its instructions: `kernels NAME [TIMES]`. Without a name it lists them.
//!
//! Everything runs on one thread; what is to be counted happens inside of `counted`.

use ecorche::bench::kernels::{self, Kernel};

#[inline(never)]
fn counted(kernel: &mut Kernel, times: usize) -> f32 {
    (0..times).map(|_| std::hint::black_box(kernel.run())).sum()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        kernels::NAMES.iter().for_each(|name| println!("{name}"));
        return Ok(());
    };
    let times: usize = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        let Some(mut kernel) = kernels::kernel(&name) else {
            return Err(format!("no kernel is called \"{name}\"; there are {}", kernels::NAMES.join(", ")));
        };
        // The first run makes buffers as large as they will be.
        kernel.run();
        let sum = counted(&mut kernel, times);
        println!("{} ({}): {sum}", kernel.name, kernel.amount);
        Ok(())
    })?;
    Ok(())
}
