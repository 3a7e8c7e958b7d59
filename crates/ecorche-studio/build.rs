//! Makes the page's bundle and puts it where `page.rs` includes it from.
//!
//! Needs Node and npm. Without them, or without a way to fetch the packages of the lock file, the bundle is empty:
//! everything else builds, and `ecorche studio` says what to install.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What the page consists of; vite gives the files these names.
const FILES: [&str; 3] = ["index.html", "studio.js", "studio.css"];

fn main() {
    let web = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("web");
    let page = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("page");
    for source in
        ["src", "index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"]
    {
        println!("cargo::rerun-if-changed={}", web.join(source).display());
    }
    println!("cargo::rerun-if-env-changed=PATH");
    let reason = bundle(&web, &page).err().unwrap_or_default();
    if !reason.is_empty() {
        println!("cargo::warning=the studio has no page: {reason}");
        fs::create_dir_all(&page).expect("the build folder can be written");
        for file in FILES {
            fs::write(page.join(file), "").expect("the build folder can be written");
        }
    }
    println!("cargo::rustc-env=ECORCHE_STUDIO_NO_PAGE={}", reason.replace('\n', " "));
}

fn bundle(web: &Path, page: &Path) -> Result<(), String> {
    run(web, "node", &["--version"]).map_err(|_| "Node is not installed".to_owned())?;
    let stamp = web.join("node_modules/.ecorche-lock");
    let lock = fs::read(web.join("package-lock.json")).map_err(|e| format!("package-lock.json: {e}"))?;
    if fs::read(&stamp).ok().as_ref() != Some(&lock) {
        run(web, npm(), &["ci", "--no-audit", "--no-fund", "--ignore-scripts"])?;
        fs::write(&stamp, &lock).map_err(|e| format!("{}: {e}", stamp.display()))?;
    }
    let out = page.display().to_string();
    let vite = web.join("node_modules/vite/bin/vite.js").display().to_string();
    run(web, "node", &[&vite, "build", "--logLevel", "error", "--emptyOutDir", "--outDir", &out])?;
    match FILES.iter().find(|file| !page.join(file).is_file()) {
        Some(file) => Err(format!("vite made no {file}")),
        None => Ok(()),
    }
}

fn npm() -> &'static str {
    if cfg!(windows) { "npm.cmd" } else { "npm" }
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<(), String> {
    let what = format!("{program} {}", arguments.first().unwrap_or(&""));
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| format!("{what}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).take(8).collect();
    Err(format!("{what} failed: {}", lines.join("; ")))
}
