//! Packages for systems with RPM, by `rpmbuild`, from `packaging/rpm/topas.spec`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::Release;
use super::file_list::PackedFile;
use crate::process::{output, root, run};

/// Makes all packages; their paths.
///
/// # Errors
/// Of `rpmbuild`.
pub fn build(
    release: &Release,
    packages: &[&str],
    stage: &Path,
    files: &[PackedFile],
) -> Result<Vec<PathBuf>> {
    // rpmbuild and its scripts divide paths at blanks, so they get none of the builder's.
    let room = tempfile::tempdir()?;
    let work = room.path();
    let tree = work.join("stage");
    symlink(stage, &tree)?;
    let lists: String = packages.iter().map(|package| list_of(package, files)).collect();
    let date = output(
        Command::new("date")
            .args(["-u", "+%a %b %d %Y", "-d"])
            .arg(format!("@{}", release.date))
            .env("LC_ALL", "C"),
    )?;
    let version = &release.version;
    let spec = fs::read_to_string(root().join("packaging/rpm/topas.spec"))?
        .replace("@VERSION@", version)
        .replace("@STAGE@", tree.to_str().context("a path that is no text")?)
        .replace("@FILES@", &lists)
        .replace("@DATE@", date.trim());
    let path = work.join("topas.spec");
    fs::write(&path, spec)?;
    let processor = &release.processor;
    let define = |name: &str, value: &str| format!("--define={name} {value}");
    let mut rpmbuild = Command::new("rpmbuild");
    rpmbuild.args(["-bb", "--quiet", "--nodeps", "--target", processor]);
    rpmbuild.arg(define("_topdir", work.to_str().context("a path that is no text")?));
    for (name, value) in [
        ("_buildhost", "reproducible"),
        ("use_source_date_epoch_as_buildtime", "1"),
        ("clamp_mtime_to_source_date_epoch", "1"),
        // Every RPM since that of RHEL 6 reads it.
        ("_binary_payload", &format!("w{}.xzdio", release.level)),
        // Where the paths of Debian's own differ from those of RHEL and SLES.
        ("_prefix", "/usr"),
        ("_rpmfilename", "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm"),
    ] {
        rpmbuild.arg(define(name, value));
    }
    rpmbuild.env("SOURCE_DATE_EPOCH", &release.date).arg(&path).stdout(Stdio::null());
    run(&mut rpmbuild)?;
    let mut built = Vec::new();
    for package in packages {
        let name = format!("{package}-{version}-1.{processor}.rpm");
        let to = release.out.join(&name);
        fs::copy(work.join("RPMS").join(&name), &to).with_context(|| name)?;
        built.push(to);
    }
    Ok(built)
}

/// The section `%files` of a package.
fn list_of(package: &str, files: &[PackedFile]) -> String {
    let own: Vec<&PackedFile> = files.iter().filter(|file| file.package == package).collect();
    let head = if package == "topas-hpc" { String::new() } else { format!(" -n {package}") };
    let mut lines = format!("%files{head}\n");
    // Directories of the system belong to other packages.
    let ours = |dir: &&Path| {
        dir.components().any(|part| part.as_os_str().to_string_lossy().contains("topas"))
    };
    let directories: BTreeSet<&Path> =
        own.iter().flat_map(|file| file.path.ancestors().skip(1)).filter(ours).collect();
    for dir in directories {
        lines.push_str(&format!("%dir %attr(0755,root,root) {}\n", dir.display()));
    }
    for file in own {
        let path = file.path.display();
        lines.push_str(&match (file.directory, file.is_conf) {
            (Some(mode), _) => format!("%dir %attr({mode:04o},root,root) {path}\n"),
            (None, true) => format!("%config(noreplace) %attr(0644,root,root) {path}\n"),
            (None, false) => format!("%attr(-,root,root) {path}\n"),
        });
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_modes_directories_and_what_a_site_changes() {
        let file = |path: &str, package: &str, is_conf, directory| PackedFile {
            path: path.into(),
            package: package.into(),
            is_conf,
            directory,
        };
        let files = [
            file("/etc/topas/topas.conf", "topas-hpc-center", true, None),
            file("/usr/bin/topas-stat", "topas-hpc-center", false, None),
            file("/usr/lib/topas/topas.c.o", "topas-hpc", false, None),
            file("/var/log/topas", "topas-hpc-center", false, Some(0o1733)),
        ];
        assert_eq!(
            list_of("topas-hpc-center", &files),
            "%files -n topas-hpc-center\n%dir %attr(0755,root,root) /etc/topas\n\
             %config(noreplace) %attr(0644,root,root) /etc/topas/topas.conf\n\
             %attr(-,root,root) /usr/bin/topas-stat\n\
             %dir %attr(1733,root,root) /var/log/topas\n\n"
        );
        assert!(list_of("topas-hpc", &files).starts_with("%files\n%dir"));
    }
}
