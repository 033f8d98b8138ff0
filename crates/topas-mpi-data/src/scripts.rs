//! Programs that an interpreter runs, as call paths tell them.

use std::collections::BTreeSet;

use super::paths::{CallPathSums, PathEnding, PathModule, RankPaths};
use super::profile::MpiProfile;

/// What Python calls the statements of a file that are in no function.
const STATEMENTS: &str = "<module>";

impl MpiProfile {
    /// Names of the files of Python that the interpreters of the ranks ran, without their directories. Empty
    /// without call paths, and for other programs.
    pub fn scripts(&self) -> BTreeSet<&str> {
        let paths = self.ranks.iter().filter_map(|rank| rank.sums.paths.as_ref());
        paths.filter_map(script).collect()
    }
}

/// The script of a rank: the file of the outermost statements of its calls.
fn script(paths: &RankPaths) -> Option<&str> {
    paths.paths.iter().find_map(|path| script_of(path, &paths.modules))
}

fn script_of<'p>(path: &CallPathSums, modules: &'p [PathModule]) -> Option<&'p str> {
    let module = |number: Option<u32>| modules.get(number? as usize);
    let starts = |frame: Option<&PathModule>| frame.is_some_and(starts_another);
    let mut outermost =
        path.frames.iter().rev().map(|frame| module(frame.module)).skip_while(|of| starts(*of));
    let file = outermost.next()??;
    // Where further frames are outside of those that are known, these begin with what runs a script.
    let is_started = || path.frames.last().is_some_and(|frame| starts(module(frame.module)));
    if path.ending != PathEnding::Outermost && !(path.ending == PathEnding::Deeper && is_started())
    {
        return None;
    }
    let is_file = file.function.as_deref() == Some(STATEMENTS) && !file.file.starts_with('<');
    let (directory, name) = directory_and_name(&file.file);
    // `python -m` with a package runs a file that has the same name in all packages.
    let name = if name == "__main__.py" { directory_and_name(directory).1 } else { name };
    Some(name).filter(|name| is_file && !name.is_empty())
}

/// Whether a function of Python runs the file that the user named: `python -m`, and mpi4py's way to end all
/// ranks if one fails.
fn starts_another(module: &PathModule) -> bool {
    let (directory, name) = directory_and_name(&module.file);
    module.function.is_some()
        && (matches!(name, "runpy.py" | "<frozen runpy>")
            || directory_and_name(directory).1 == "mpi4py")
}

fn directory_and_name(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::{PathAmounts, PathFrame};

    /// The script by a path whose frames are these functions of files, innermost first.
    fn told(frames: &[(&str, &str)], ending: PathEnding) -> Option<String> {
        let module = |(function, file): &(&str, &str)| PathModule {
            id: "p1".into(),
            file: (*file).into(),
            function: Some(*function).filter(|name| !name.is_empty()).map(Into::into),
        };
        let paths = RankPaths {
            modules: frames.iter().map(module).collect(),
            paths: vec![CallPathSums {
                routine: None,
                frames: (0..frames.len() as u32)
                    .map(|number| PathFrame { module: Some(number), offset: 1 })
                    .collect(),
                ending,
                amounts: PathAmounts::default(),
                number: None,
            }],
            partners: Vec::new(),
        };
        script(&paths).map(str::to_owned)
    }

    #[test]
    fn the_outermost_statements_are_those_of_the_script() {
        use PathEnding::{Cut, Deeper, Outermost};
        let halo = ("<module>", "/home/u/halo.py");
        let main = ("main", "/home/u/halo.py");
        let library = ("", "/usr/lib/libmpi.so");
        let frozen = ("_run_code", "<frozen runpy>");
        let runs = ("run_path", "/usr/lib/python3.11/runpy.py");
        let mpi4py = ("<module>", "/opt/site-packages/mpi4py/__main__.py");
        for (frames, ending, script) in [
            (&[library, main, halo][..], Outermost, Some("halo.py")),
            (&[halo], Outermost, Some("halo.py")),
            (&[("<module>", "halo.py")], Outermost, Some("halo.py")),
            // An import within the script.
            (&[("<module>", "/home/u/grid.py"), main, halo], Outermost, Some("halo.py")),
            // Started by others.
            (
                &[main, halo, frozen, ("_run_module_as_main", "<frozen runpy>")],
                Outermost,
                Some("halo.py"),
            ),
            (
                &[halo, frozen, runs, ("main", "/opt/mpi4py/run.py"), mpi4py, frozen],
                Outermost,
                Some("halo.py"),
            ),
            (&[("<module>", "/opt/solver/__main__.py"), frozen], Outermost, Some("solver")),
            // Nobody knows what is outside of that, or the outermost is no file: a thread, `python -c`, C.
            (&[main, halo], Deeper, None),
            (&[main, halo], Cut, None),
            // It is enough that what runs the script is known.
            (&[main, halo, frozen, runs], Deeper, Some("halo.py")),
            (&[main, halo, frozen, runs], Cut, None),
            (&[halo, ("exec_module", "<frozen importlib._bootstrap>")], Deeper, None),
            (&[frozen, runs], Deeper, None),
            (&[("run", "/usr/lib/python3.11/threading.py")], Outermost, None),
            (&[("<module>", "<string>")], Outermost, None),
            (&[library], Outermost, None),
            (&[], Outermost, None),
        ] {
            assert_eq!(told(frames, ending).as_deref(), script, "{frames:?}");
        }
    }
}
