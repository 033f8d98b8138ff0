//! Packages of Debian in a root of a Debian.

use std::path::Path;

use crate::{MEASURE, inside};

/// Installs and measures; upgrades with a topas.conf that the site has changed, as the new release
/// has, and measures with the old executable; removes all packages, and purges.
const STEPS: &str = "\
    install() { dpkg -i $2 $1/topas-hpc-center_*.deb $1/topas-hpc_*.deb $1/topas-hpc-collector_*.deb; }; \
    install /tmp/first >/tmp/log 2>&1 </dev/null; stat -c %a /var/log/topas; \
    measure /usr; lines /var/log/topas; \
    echo '# of the site' >>/etc/topas/topas.conf; \
    install /tmp/newer --force-confold >/tmp/log 2>&1 </dev/null; \
    tail -q -n 1 /etc/topas/topas.conf /etc/topas/topas.conf.dpkg-dist; \
    stat -c %a /var/log/topas; again; lines /var/log/topas; \
    dpkg -r topas-hpc-collector topas-hpc topas-hpc-center >/tmp/log 2>&1; \
    tail -n 1 /etc/topas/topas.conf; again; \
    dpkg -P topas-hpc-collector topas-hpc topas-hpc-center >/tmp/log 2>&1; again; \
    lines /var/log/topas; \
    test -e /usr/libexec/topas -o -e /etc/topas -o -e /usr/bin/topas || echo gone; rm -rf /var/log/topas";

pub fn are_installed_upgraded_and_removed(root: &Path) {
    let said = inside(root, &format!("{MEASURE}{STEPS}")).good().out();
    let lines: Vec<&str> = said.lines().collect();
    let sample = format!("# The sample of {}.", crate::NEWER);
    let expected = ["1733", "2 lines", "# of the site", &sample, "1733", "4 lines"];
    assert_eq!(lines[..expected.len()], expected, "{}: {said}", root.display());
    // What is removed and not purged still has the configuration, and so programs write lines.
    assert_eq!(lines[expected.len()..], ["# of the site", "6 lines", "gone"], "{said}");
}
