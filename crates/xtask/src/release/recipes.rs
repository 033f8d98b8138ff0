//! Recipes for the package managers of centers, which install the tarball: the files in
//! `packaging/recipes` with the version, the processor and the checksum in their places.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::VERSION;
use crate::process::{output, root};

/// The files in `packaging/recipes`, and their names in a release; `VERSION` stands for the version.
pub const RECIPES: [(&str, &str); 3] = [
    ("topas-hpc.eb", "topas-hpc-VERSION.eb"),
    ("topas-hpc.spack.py", "topas-hpc-VERSION.spack.py"),
    ("topas-hpc-ohpc.spec", "topas-hpc-ohpc-VERSION.spec"),
];

/// The name of a recipe in this release.
pub fn name(template: &str) -> String {
    template.replace("VERSION", VERSION)
}

/// Writes the recipes of a tarball beside it: their paths.
///
/// # Errors
/// If a recipe cannot be read or written, or has a word in `@` that nobody replaces.
pub fn write(tarball: &Path, processor: &str, out: &Path) -> Result<Vec<PathBuf>> {
    let told = output(Command::new("sha256sum").arg(tarball))?;
    let sum = told.split_whitespace().next().context("a checksum")?;
    RECIPES
        .iter()
        .map(|(file, named)| {
            let from = root().join("packaging/recipes").join(file);
            let text = fs::read_to_string(&from).with_context(|| from.display().to_string())?;
            let to = out.join(name(named));
            fs::write(
                &to,
                filled(&text, processor, sum).with_context(|| from.display().to_string())?,
            )?;
            Ok(to)
        })
        .collect()
}

/// A recipe with its words replaced.
fn filled(text: &str, processor: &str, sum: &str) -> Result<String> {
    let words = [("@VERSION@", VERSION), ("@ARCH@", processor), ("@SHA256@", sum)];
    let text = words.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word, value));
    // `@` alone begins a decorator of Python.
    let is_word = |word: &str| {
        word.len() > 2
            && word.strip_prefix('@').and_then(|rest| rest.split_once('@')).is_some_and(
                |(name, _)| !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase()),
            )
    };
    if let Some(left) = text.split_whitespace().find(|word| is_word(word)) {
        bail!("nobody replaces {left}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_recipes_is_replaced() {
        for (file, _) in RECIPES {
            let text = fs::read_to_string(root().join("packaging/recipes").join(file)).unwrap();
            let text = filled(&text, "aarch64", &"5a".repeat(32)).unwrap();
            assert!(text.contains(VERSION) && text.contains("aarch64"), "{file}");
            // What RPM gets needs no checksum: RPM reads the file beside the recipe.
            assert!(text.contains(&"5a".repeat(32)) || file.ends_with(".spec"), "{file}");
        }
    }

    #[test]
    fn a_word_that_nobody_knows_is_told() {
        let fault =
            filled("version @VERSION@\nwhere @PLACE@ is", "x86_64", "0").unwrap_err().to_string();
        assert_eq!(fault, "nobody replaces @PLACE@");
        assert!(filled("@run_after(\"install\") a@b @", "x86_64", "0").is_ok());
    }
}
