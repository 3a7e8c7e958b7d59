//! Every command and option, defined once: parsing, help, manual and completions come from here.

mod bake;
mod character;
mod draw;
mod groups;
mod measure;
mod program;
mod simulate;

pub use bake::{Bake, CrowdArguments, Demo, Job, Join, States};
pub use character::{InfoArguments, Init, ProfileArguments, Samples, StudioArguments, TransferArguments};
pub use draw::{FieldArguments, OperatorArguments, Render, Slice, WrinkleArguments};
pub use groups::{
    AnatomyArguments, CacheArguments, Deformation, ImplicitArguments, MotionArguments, Rig,
    SamplingArguments, Shot,
};
pub use measure::{BenchArguments, Measure};
pub use program::{Completions, Man};
pub use simulate::{HeroArguments, ReferenceArguments, Tissue, Until};

use clap::{Args, Parser, Subcommand};

/// Skin deformation for animated characters.
///
/// A rigged, animated character goes in; the same animation comes out with better skin, as a cache
/// that Blender, Maya, Houdini and game engines read.
///
/// Exit codes: 0 done; 1 done, but a check that was asked for failed; 2 error.
#[derive(Parser)]
#[command(name = "ecorche", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// For every command.
    #[command(flatten)]
    pub options: Options,
}

/// Options of every command.
#[derive(Args)]
pub struct Options {
    /// Threads to use; all cores by default. Results do not depend on it. `bench` takes several, such as 1,2
    #[arg(long, global = true, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Everywhere")]
    pub threads: Vec<u16>,
    /// Print nothing but results and errors
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub quiet: bool,
    /// Print more
    #[arg(long, short, global = true, conflicts_with = "quiet", help_heading = "Everywhere")]
    pub verbose: bool,
}

/// The commands. The structs describe them: a doc comment on a variant would replace the long help of its struct.
#[derive(Subcommand)]
pub enum Command {
    Demo(Demo),
    Info(InfoArguments),
    Init(Init),
    Transfer(TransferArguments),
    Bake(Bake),
    Render(Render),
    Measure(Measure),
    Bench(BenchArguments),
    Crowd(CrowdArguments),
    Studio(StudioArguments),
    Samples(Samples),
    Field(FieldArguments),
    Wrinkles(WrinkleArguments),
    Operator(OperatorArguments),
    Profile(ProfileArguments),
    Join(Join),
    States(States),
    Job(Job),
    Tissue(Tissue),
    Reference(ReferenceArguments),
    Hero(HeroArguments),
    Man(Man),
    Completions(Completions),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    const SOURCES: [&str; 6] = [
        include_str!("bake.rs"),
        include_str!("character.rs"),
        include_str!("draw.rs"),
        include_str!("measure.rs"),
        include_str!("program.rs"),
        include_str!("simulate.rs"),
    ];

    /// The paragraphs of a struct's doc comment after the first.
    fn explanation(of: &str) -> Vec<String> {
        let struct_of = format!("\npub struct {of} {{");
        let source = SOURCES.into_iter().find(|source| source.contains(&struct_of));
        let source = source.unwrap_or_else(|| panic!("no struct {of}"));
        let end = source.find(&struct_of).unwrap();
        let end = source[..end].rfind("#[derive(Args").unwrap();
        let lines: Vec<&str> =
            source[..end].lines().rev().map_while(|line| line.strip_prefix("///")).collect();
        let text = lines.into_iter().rev().collect::<Vec<_>>().join("\n");
        text.split("\n\n").skip(1).map(words).collect()
    }

    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn help_and_manual_of_every_command_hold_all_that_its_struct_says() {
        use clap::CommandFactory;
        let (_, variants) = include_str!("mod.rs").split_once("pub enum Command {\n").unwrap();
        let (variants, _) = variants.split_once("\n}").unwrap();
        let structs =
            variants.lines().map(|line| line.trim().trim_end_matches("),").split_once('(').unwrap());
        let structs: Vec<(String, &str)> = structs.map(|(v, s)| (v.to_lowercase(), s)).collect();
        let mut cli = Cli::command();
        assert_eq!(structs.len(), cli.get_subcommands().count());
        for (name, of) in structs {
            let command = cli.find_subcommand_mut(&name).unwrap();
            let help = words(&command.render_long_help().to_string());
            let mut page = Vec::new();
            clap_mangen::Man::new(command.clone()).render(&mut page).unwrap();
            let page = String::from_utf8(page).unwrap().replace("\\-", "-").replace("\\*(Aq", "'");
            let paragraphs = explanation(of);
            assert!(!paragraphs.is_empty(), "{name} is not explained");
            for paragraph in paragraphs {
                assert!(help.contains(&paragraph), "{paragraph}\n{help}");
                assert!(words(&page).contains(&paragraph), "{paragraph}\n{page}");
            }
        }
    }
}
