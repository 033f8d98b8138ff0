//! The tarball in a root of a Debian, by the commands that INSTALL.md tells.

use std::fs;
use std::path::Path;

use topas_tests::documents::blocks;
use topas_tests::site::source_root;

use crate::{MEASURE, NEWER, inside};

/// The blocks of commands in the section on the tarball: how to install it, and how to upgrade.
pub fn documented() -> [String; 2] {
    let text = fs::read_to_string(source_root().join("INSTALL.md")).expect("INSTALL.md");
    let section = text.split("\n### ").find(|part| part.starts_with("The tarball\n"));
    let mut blocks = blocks(section.expect("a section")).into_iter();
    let version = env!("CARGO_PKG_VERSION");
    [(); 2].map(|()| blocks.next().expect("a block").replace("VERSION", version))
}

/// Installs and measures; upgrades with a topas.conf that the site has changed, as the new release
/// has, and measures with the old executable and with one that is linked anew.
pub fn is_installed_and_upgraded(root: &Path) {
    let [install, upgrade] = documented();
    let steps = format!(
        "{MEASURE}cd /tmp/first\n{install}\nP=/opt/topas; L=$P/var/log/topas; stat -c %a $L; \
         measure $P >/dev/null; lines $L; echo '# of the site' >>$P/etc/topas/topas.conf; \
         cd /tmp/newer\n{upgrade}\nstat -c %a $L; again; lines $L; measure $P; lines $L; \
         tail -q -n 1 $P/etc/topas/topas.conf $P/share/doc/topas/examples/topas.conf; \
         $P/bin/topas-stat --check $L >/dev/null && echo read"
    );
    let said = inside(root, &steps).good().out();
    let sample = format!("# The sample of {NEWER}.");
    let expected =
        ["1733", "2 lines", "1733", "4 lines", "6 lines", "# of the site", &sample, "read"];
    let lines: Vec<&str> = said.lines().filter(|line| expected.contains(line)).collect();
    assert_eq!(lines, expected, "{}: {said}", root.display());
}
