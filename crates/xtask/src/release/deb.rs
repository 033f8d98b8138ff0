//! Packages for Debian and Ubuntu, by `dpkg-deb`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Release;
use super::file_list::PackedFile;
use crate::process::{root, run};
use crate::tools;

/// Scripts and lists that a package may have beside its control file.
const PARTS: [(&str, u32); 5] = [
    ("preinst", 0o755),
    ("postinst", 0o755),
    ("prerm", 0o755),
    ("postrm", 0o755),
    ("triggers", 0o644),
];

/// Makes one package of the files that are its own; the path of the package.
///
/// # Errors
/// Of `dpkg-deb`, and if `packaging/deb/control` has no such package.
pub fn build(
    release: &Release,
    package: &str,
    stage: &Path,
    files: &[PackedFile],
) -> Result<PathBuf> {
    let tree = release.work.join("deb").join(package);
    let mut bytes = 0;
    for file in files {
        let inside = file.path.strip_prefix("/").unwrap_or(&file.path);
        bytes += place(&stage.join(inside), &tree.join(inside), file.directory)?;
    }
    let own = root().join("packaging/deb");
    let control = tree.join("DEBIAN");
    fs::create_dir_all(&control)?;
    let about = stanza(&fs::read_to_string(own.join("control"))?, package)?;
    let (version, architecture) = (&release.version, tools::debian_name(&release.processor));
    let text = format!(
        "{}Version: {version}\nArchitecture: {architecture}\nMaintainer: The TOPAS project <topas@localhost>\n\
         Section: science\nPriority: optional\nInstalled-Size: {}\n",
        about.replace("@VERSION@", version),
        bytes.div_ceil(1024)
    );
    write(&control.join("control"), &text, 0o644)?;
    let conf = files.iter().filter(|file| file.is_conf);
    let conf: String = conf.map(|file| format!("{}\n", file.path.display())).collect();
    if !conf.is_empty() {
        write(&control.join("conffiles"), &conf, 0o644)?;
    }
    for (part, mode) in PARTS {
        if let Ok(text) = fs::read_to_string(own.join(format!("{package}.{part}"))) {
            write(&control.join(part), &text, mode)?;
        }
    }
    // Every package says its licence where Debian looks for it.
    let documents = tree.join("usr/share/doc").join(package);
    fs::create_dir_all(&documents)?;
    let licence = fs::read_to_string(root().join("LICENSE"))?;
    let text = format!(
        "{licence}\nThe licences of the works of others that are in the tools:\n\
         /usr/share/doc/topas/THIRD-PARTY in the package topas-hpc-center.\n"
    );
    write(&documents.join("copyright"), &text, 0o644)?;
    plain_modes(&tree, files)?;
    let to = release.out.join(format!("{package}_{version}_{architecture}.deb"));
    run(Command::new("dpkg-deb")
        .args(["--root-owner-group", "-Zxz", &format!("-z{}", release.level), "--build"])
        .args([&tree, &to])
        .env("SOURCE_DATE_EPOCH", &release.date)
        .stdout(std::process::Stdio::null()))?;
    fs::remove_dir_all(&tree)?;
    Ok(to)
}

/// The fields of a package in the file of all.
fn stanza(control: &str, package: &str) -> Result<String> {
    let of = format!("Package: {package}\n");
    let found = control.split("\n\n").find(|part| part.starts_with(&of));
    let Some(found) = found else { bail!("packaging/deb/control has no package {package}") };
    Ok(format!("{}\n", found.trim_end()))
}

/// Copies a file or a link, or makes an empty directory with its mode; the bytes of the file.
fn place(from: &Path, to: &Path, directory: Option<u32>) -> Result<u64> {
    let dir = to.parent().context("a file without a directory")?;
    fs::create_dir_all(dir)?;
    if let Some(mode) = directory {
        fs::create_dir_all(to)?;
        fs::set_permissions(to, fs::Permissions::from_mode(mode))?;
        return Ok(4096);
    }
    if let Ok(target) = fs::read_link(from) {
        symlink(target, to)?;
        return Ok(0);
    }
    fs::copy(from, to).with_context(|| from.display().to_string())
}

fn write(to: &Path, text: &str, mode: u32) -> Result<()> {
    fs::write(to, text).with_context(|| to.display().to_string())?;
    Ok(fs::set_permissions(to, fs::Permissions::from_mode(mode))?)
}

/// Gives directories the mode of a system, whatever the umask of the builder is, but those of the
/// list their own.
fn plain_modes(tree: &Path, files: &[PackedFile]) -> Result<()> {
    let mut open = vec![tree.to_owned()];
    while let Some(dir) = open.pop() {
        let inside = Path::new("/").join(dir.strip_prefix(tree).unwrap_or(&dir));
        let listed = files.iter().find(|file| file.path == inside).and_then(|file| file.directory);
        fs::set_permissions(&dir, fs::Permissions::from_mode(listed.unwrap_or(0o755)))?;
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_package_has_its_own_fields() {
        let control =
            "# words\n\nPackage: a\nDepends: b\nDescription: x\n y\n\nPackage: ab\nX: 1\n";
        assert_eq!(stanza(control, "a").unwrap(), "Package: a\nDepends: b\nDescription: x\n y\n");
        assert_eq!(stanza(control, "ab").unwrap(), "Package: ab\nX: 1\n");
        assert!(stanza(control, "b").is_err());
    }
}
