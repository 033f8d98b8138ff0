//! How a real project is built and tested: `tests/projects/NAME.sh`.
//!
//! Its first lines say what it is, `# KEY: VALUE`; the rest is two shell functions. `build`
//! builds in the unpacked sources with nothing said of TOPAS; `check` runs the project's own
//! tests and prints one line per result on standard output, without times and paths.
//!
//! | key | meaning |
//! |---|---|
//! | `name` | the project |
//! | `source` | `apt:PACKAGE` or `pip:NAME==VERSION` |
//! | `system` | its build system and languages, for the table |
//! | `needs` | Debian packages |
//! | `results` | how many lines `check` prints at least |
//! | `measured` | how many executables leave lines |
//! | `built` | `once`: the sides share one build with TOPAS, as far as `check` builds itself |

use std::fs;
use std::path::{Path, PathBuf};

use crate::site::source_root;

/// A recipe.
#[derive(Debug)]
pub struct Recipe {
    /// Its file.
    pub path: PathBuf,
    text: String,
}

impl Recipe {
    /// Reads `tests/projects/NAME.sh`. Panics if a key is missing.
    #[track_caller]
    pub fn read(name: &str) -> Recipe {
        let path = source_root().join("tests/projects").join(format!("{name}.sh"));
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Recipe { path, text }
    }

    /// The value of a key; empty if it has none.
    pub fn value(&self, key: &str) -> &str {
        let lines = self.text.lines().map_while(|line| line.strip_prefix("# "));
        let mut values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        values.next().unwrap_or_default()
    }

    /// The number a key has. Panics if there is none.
    #[track_caller]
    pub fn number(&self, key: &str) -> usize {
        let value = self.value(key);
        value.parse().unwrap_or_else(|_| panic!("{}: {key} '{value}'", self.path.display()))
    }
}

/// What is linked below a directory: dynamically linked executables that use MPI themselves or
/// hold a module.
#[derive(Debug, Default)]
pub struct Linked {
    /// With a module.
    pub with: Vec<PathBuf>,
    /// With MPI and without.
    pub without: Vec<PathBuf>,
}

impl Linked {
    /// Looks at every file below `dir`.
    pub fn below(dir: &Path) -> Linked {
        let mut linked = Linked::default();
        linked.look(dir);
        linked
    }

    fn look(&mut self, dir: &Path) {
        for path in fs::read_dir(dir).expect("directory").flatten().map(|entry| entry.path()) {
            let Ok(data) = path.symlink_metadata() else { continue };
            if data.is_dir() {
                self.look(&path);
            } else if data.is_file() && data.len() > 64 {
                let bytes = fs::read(&path).unwrap_or_default();
                let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
                // Executables name their loader; objects and libraries do not.
                if !bytes.starts_with(b"\x7fELF") || !has(b"/ld-linux") {
                    continue;
                }
                if has(b"topas_module_seen") {
                    self.with.push(path);
                } else if has(b"\0libmpi") {
                    self.without.push(path);
                }
            }
        }
    }
}
