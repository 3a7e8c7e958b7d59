//! The page, as vite bundled it when this crate was built.

/// A file of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Name after the token; empty for the page itself.
    pub name: &'static str,
    /// MIME type.
    pub kind: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
}

macro_rules! bundled {
    ($file:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/page/", $file))
    };
}

/// All of them.
pub const FILES: [File; 3] = [
    File { name: "", kind: "text/html; charset=utf-8", bytes: bundled!("index.html") },
    File { name: "studio.js", kind: "text/javascript; charset=utf-8", bytes: bundled!("studio.js") },
    File { name: "studio.css", kind: "text/css; charset=utf-8", bytes: bundled!("studio.css") },
];

/// Why there is no page in this build; `None` when there is one.
pub fn missing() -> Option<&'static str> {
    Some(env!("ECORCHE_STUDIO_NO_PAGE")).filter(|reason| !reason.is_empty())
}
