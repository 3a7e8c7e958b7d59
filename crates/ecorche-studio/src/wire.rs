//! What crosses the wire is declared in `wire!`: the type as it stands, and for the tests how the page writes it. The page's
//! types, web/src/engine_types.ts, are made of that.

macro_rules! wire {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[$own:meta])* $seen:vis $field:ident: $kind:ty),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis struct $name { $($(#[$own])* $seen $field: $kind),* }

        #[cfg(test)]
        impl $crate::wire::Typed for $name {
            fn name() -> String {
                stringify!($name).to_owned()
            }

            fn declaration() -> String {
                let fields: &[String] = &[$(
                    $crate::wire::field(&[$(stringify!($own)),*], stringify!($field), &<$kind as $crate::wire::Typed>::name())
                ),*];
                $crate::wire::interface(&[$(stringify!($meta)),*], stringify!($name), fields)
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $(
                $(#[$own:meta])*
                $variant:ident $(($inner:ty))? $({ $($(#[$about:meta])* $field:ident: $kind:ty),* $(,)? })?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$own])* $variant $(($inner))? $({ $($(#[$about])* $field: $kind),* })?),*
        }

        #[cfg(test)]
        impl $crate::wire::Typed for $name {
            fn name() -> String {
                stringify!($name).to_owned()
            }

            fn declaration() -> String {
                let variants: &[String] = &[$({
                    let content: Option<String> = None;
                    $(let content = content.or(Some(<$inner as $crate::wire::Typed>::name()));)?
                    $(let content = content.or(Some($crate::wire::inline(&[$(
                        $crate::wire::field(&[$(stringify!($about)),*], stringify!($field), &<$kind as $crate::wire::Typed>::name())
                    ),*])));)?
                    $crate::wire::variant(&[$(stringify!($own)),*], stringify!($variant), content)
                }),*];
                $crate::wire::union(&[$(stringify!($meta)),*], stringify!($name), variants)
            }
        }
    };
}
pub(crate) use wire;

#[cfg(test)]
pub use script::*;

#[cfg(test)]
mod script {
    use ecorche::{anatomy, muscle::definition};
    use std::collections::BTreeMap;
    use std::fmt::Write;

    /// A type as the page writes it.
    pub trait Typed {
        /// What stands for it in the types of others.
        fn name() -> String;

        /// Its own declaration; empty for what the language has.
        fn declaration() -> String {
            String::new()
        }
    }

    macro_rules! named {
        ($name:literal: $($kind:ty),*) => {
            $(impl Typed for $kind {
                fn name() -> String {
                    $name.to_owned()
                }
            })*
        };
    }
    named!("number": f32, f64, u16, u32, u64, usize);
    named!("boolean": bool);
    named!("string": String, &'static str, std::path::PathBuf);
    named!("Vector": glam::Vec3);
    // Only the page knows what it means.
    named!("unknown": serde_json::Value);
    // The anatomy's own types are made of its table of keys.
    named!("Skin": anatomy::SkinDef);
    named!("Wrinkles": ecorche::surface::wrinkles::WrinkleDef);
    named!("Muscle": definition::MuscleDef);
    named!("Fat": definition::FatDef);
    named!("Parametric": ecorche::muscle::parametric::ParametricDef);
    named!("Keys": definition::KeysDef);
    named!("Side": definition::Side);
    named!("Edit": anatomy::Edit);
    named!("Smooth": ecorche::surface::smooth::Settings);

    impl<T: Typed> Typed for Option<T> {
        fn name() -> String {
            let name = T::name();
            if name == "unknown" { name } else { format!("{name} | null") }
        }
    }

    impl<T: Typed> Typed for Box<T> {
        fn name() -> String {
            T::name()
        }
    }

    fn list_of(name: &str) -> String {
        if name.contains('|') { format!("({name})[]") } else { format!("{name}[]") }
    }

    impl<T: Typed> Typed for Vec<T> {
        fn name() -> String {
            list_of(&T::name())
        }
    }

    impl<T: Typed, const N: usize> Typed for [T; N] {
        fn name() -> String {
            format!("[{}]", vec![T::name(); N].join(", "))
        }
    }

    impl<A: Typed, B: Typed> Typed for (A, B) {
        fn name() -> String {
            format!("[{}, {}]", A::name(), B::name())
        }
    }

    impl<T: Typed> Typed for BTreeMap<String, T> {
        fn name() -> String {
            format!("Record<string, {}>", T::name())
        }
    }

    /// The sentences of a thing, from its attributes.
    fn about(attributes: &[&str]) -> String {
        let lines = attributes
            .iter()
            .filter_map(|text| text.strip_prefix("doc =")?.split_once('"')?.1.rsplit_once('"'));
        let text: Vec<String> = lines.map(|(line, _)| line.trim().replace("\\\"", "\"")).collect();
        text.join(" ").replace("[`", "`").replace("`]", "`")
    }

    /// A field of a type; what the engine has a default for may be missing.
    pub fn field(attributes: &[&str], name: &str, kind: &str) -> String {
        let mark = if attributes.contains(&"serde(default)") { "?" } else { "" };
        let told = about(attributes);
        let told = if told.is_empty() { told } else { format!("/** {told} */ ") };
        format!("{told}{name}{mark}: {kind}")
    }

    /// Fields in one line.
    pub fn inline(fields: &[String]) -> String {
        let plain = fields.iter().map(|field| field.rsplit_once("*/ ").map_or(&**field, |(_, field)| field));
        format!("{{ {} }}", plain.collect::<Vec<_>>().join("; "))
    }

    pub fn interface(attributes: &[&str], name: &str, fields: &[String]) -> String {
        let mut text = format!("/** {} */\nexport interface {name} {{\n", about(attributes));
        for field in fields {
            writeln!(text, "  {};", field.replace("*/ ", "*/\n  ")).unwrap();
        }
        text + "}\n"
    }

    /// One of several.
    pub fn variant(attributes: &[&str], name: &str, content: Option<String>) -> String {
        let mut word = String::new();
        for c in name.chars() {
            if c.is_uppercase() && !word.is_empty() {
                word.push('_');
            }
            word.extend(c.to_lowercase());
        }
        let told = about(attributes);
        let told = if told.is_empty() { told } else { format!("  /** {told} */\n") };
        match content {
            Some(content) => format!("{told}  | {{ {word}: {content} }}"),
            None => format!("{told}  | \"{word}\""),
        }
    }

    pub fn union(attributes: &[&str], name: &str, variants: &[String]) -> String {
        format!("/** {} */\nexport type {name} =\n{};\n", about(attributes), variants.join("\n"))
    }

    /// The names of what a union of the page's can be.
    pub fn alternatives<'a>(page: &'a str, union: &str) -> Vec<&'a str> {
        let start = format!("export type {union} =\n");
        let text = page.split_once(&start).map_or("", |(_, rest)| rest);
        let lines = text.lines().take_while(|line| line.starts_with("  | "));
        lines.filter_map(|line| line.strip_prefix("  | { ")?.split_once(':')).map(|(name, _)| name).collect()
    }
}
