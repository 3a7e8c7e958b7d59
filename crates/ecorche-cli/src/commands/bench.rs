//! `ecorche bench`: the tables of the papers and our own, as text, JSON and plots.

use super::{write_json, write_png};
use crate::arguments::BenchArguments;
use crate::console::Console;
use crate::{Failure, Outcome};
use ecorche::bench::{Bench, Machine, Settings, Table, tables};
use serde_json::{Map, Value, json};

/// Measures the tables asked for, one after the other.
pub fn run(arguments: &BenchArguments, threads: &[u16], console: &Console) -> Result<Outcome, Failure> {
    let all: Vec<&str> = tables().map(|table| table.0).collect();
    if arguments.list {
        let lines: String = tables().map(|(name, summary)| format!("{name:16} {summary}\n")).collect();
        console.print(lines)?;
        return Ok(Outcome::Done);
    }
    let wanted = arguments.table.iter().map(String::as_str);
    let wanted: Vec<&str> =
        if arguments.table.iter().any(|t| t == "all") { all.clone() } else { wanted.collect() };
    if let Some(unknown) = wanted.iter().find(|name| !all.contains(name)) {
        return Err(format!("--table {unknown}: no such table; there are all, {}", all.join(", ")).into());
    }
    let mut settings = Settings { quick: arguments.quick, ..Settings::default() };
    if !threads.is_empty() {
        settings.threads = threads.iter().map(|&count| count.into()).collect();
    }
    let to_stdout = arguments.json.as_deref().is_some_and(|path| path.as_os_str() == "-");
    let machine = Machine::here();
    if !to_stdout {
        let Machine { processor, processors, system, .. } = &machine;
        console.print(format_args!("{processor}, {processors} processors, {system}\n\n"))?;
    }
    let counts = settings.threads.clone();
    let mut bench = Bench::new(settings)?;
    let mut measured: Vec<Table> = Vec::new();
    for name in wanted {
        console.detail(&format!("measuring {name}"));
        let table = bench.table(name)?;
        if !to_stdout {
            console.print_line(&table)?;
        }
        measured.push(table);
        if console.is_unread() && arguments.json.is_none() && arguments.plots.is_none() {
            break;
        }
    }
    if let Some(folder) = &arguments.plots {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for table in &measured {
            for (i, plot) in table.plots.iter().enumerate() {
                let number = if table.plots.len() > 1 { format!("-{}", i + 1) } else { String::new() };
                write_png(
                    &folder.join(format!("{}{number}.png", table.name)),
                    &plot.draw(1000, 560),
                    console,
                )?;
            }
        }
    }
    if let Some(path) = &arguments.json {
        let tables: Map<String, Value> =
            measured.iter().map(|table| (table.name.to_owned(), table.to_json())).collect();
        write_json(
            path,
            &json!({ "machine": machine, "threads": counts, "quick": arguments.quick, "tables": tables }),
            console,
        )?;
    }
    Ok(Outcome::Done)
}
