//! Opening an address in the user's browser.

use std::io::Write;
use std::process::{Command, Stdio};
use tempfile::TempPath;

/// Asks the system to open `url`; returns the file that leads there, which is removed when dropped, or `None` if it cannot
/// be written.
///
/// The url holds the token, and every user of a machine can list the arguments of its processes. So the browser is given
/// a file that this user alone can read and that leads to the url. What is left: the browser's own history, and a
/// browser that may not read the folder of temporary files, which needs the printed address.
pub fn open(url: &str) -> Option<TempPath> {
    let file = way_to(url).ok()?;
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let quiet = Stdio::null;
    let mut command = Command::new(program);
    command.args(before).arg(&file).stdin(quiet()).stdout(quiet()).stderr(quiet());
    // Without a program that opens things the printed address is left.
    let _ = command.spawn();
    Some(file)
}

/// A page that this user alone can read and that leads to `url`.
fn way_to(url: &str) -> std::io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix("ecorche-studio-").suffix(".html").tempfile()?;
    writeln!(
        file,
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\"><title>Écorché</title>\
         <a href=\"{url}\">Open the studio</a>"
    )?;
    file.flush()?;
    Ok(file.into_temp_path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_the_studio_is_this_user_s_alone_and_goes_with_it() {
        let url = "http://127.0.0.1:1/0123456789abcdef/";
        let file = way_to(url).unwrap();
        assert!(std::fs::read_to_string(&file).unwrap().contains(url));
        assert!(!file.to_string_lossy().contains("0123456789abcdef"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
        }
        let path = file.to_path_buf();
        drop(file);
        assert!(!path.exists());
    }
}
