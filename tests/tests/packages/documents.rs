//! What README.md and INSTALL.md say holds for the installed packages: root installs them by the
//! documents alone, a user who is not root measures by the README's commands, root reports, switches
//! off, and removes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use topas_tests::documents::scripts;
use topas_tests::site::source_root;

use crate::inside;

/// What of the source tree the README's commands name, by their names there.
const SOURCES: [(&str, &str); 2] =
    [("heat.f90", "tests/programs/f90/heat.f90"), ("cg.c", "tests/programs/c/cg.c")];

/// Compares checksums and installs by the commands of INSTALL.md, and puts the drivers in front of everybody by its links.
/// Users come: ada, whose programs are measured, and bob, who looks.
const INSTALL: &str = "\
    cd /tmp/first; COMPARE_COMMAND >/tmp/log; INSTALL_COMMAND >/tmp/log 2>&1; \
    ln -s /usr/share/topas/profile.d/topas.sh /usr/share/topas/profile.d/topas.csh /etc/profile.d; \
    for user in ada:1001 bob:1002; do id=${user#*:} user=${user%:*}; \
    echo $user:x:$id:$id::/users/$user:/bin/sh >>/etc/passwd; echo $user:x:$id: >>/etc/group; \
    mkdir -p /users/$user; cp /tmp/given/* /users/$user; chown -R $id:$id /users/$user; done; \
    runuser -l ada -c 'mpicc cg.c -o cg -lm'; ";

/// What a user sees of single runs, how the site and the user switch off, and what is left behind
/// the packages. A line of it is told by `told`, with its name.
const AFTER: &str = "\
    told() { echo \"== $*\"; }; as() { runuser -l $1 -c \"$2\" 2>&1; }; \
    runs() { topas-stat --runs --csv --columns exe /var/log/topas | grep -c $1; }; \
    told driver; as ada 'command -v mpicc'; \
    told explained; as ada 'mpicc --topas-explain cg.c -o cg' | grep -o /etc/topas/topas.conf | sort -u; \
    told asked; as ada 'topas --prefix; topas --log'; \
    told modes; stat -c '%a %U' /var/log/topas/*.1001.log; \
    told others; LOG=$(echo /var/log/topas/*.1001.log); \
    as bob \"ls /var/log/topas; cat $LOG; rm -f $LOG\" | sed 's/.*: //'; \
    told own; as ada 'topas-stat --mine --runs --csv --columns exe' | sort -u; \
    told run; as ada '/usr/bin/mpicc cg.c -o bare -lm; mpiexec -n 2 topas-run ./bare >/dev/null'; runs bare; \
    told user off; as ada 'cp cg off; TOPAS=off mpiexec -n 2 ./off >/dev/null'; runs off || true; \
    told site off; touch /etc/topas/off; as ada 'command -v mpicc; mpiexec -n 2 ./off >/dev/null'; \
    runs off || true; rm /etc/topas/off; \
    told node; as ada topas-doctor >/tmp/doctor || test $? = 1; grep -c . /tmp/doctor; \
    told events; as ada 'mpiexec -n 2 topas-run --mpi=log,waits,paths ./heat >/dev/null; \
    topasview --timeline --html run.html >/dev/null; grep -c \"</html>\" run.html; \
    topas-mpi replay topas-mpi.*.trace >replay; topasview --why >why; test -s replay -a -s why'; \
    told mail; as ada 'topas-report mail --user \"$USER\" --show --period '$(date +%Y)' 2>&1' | grep -q heat && echo of heat; \
    told pages; for page in PAGES; do ls /usr/share/man/man${page##*.}/$page.gz >/dev/null; done; \
    told removed; cp /var/log/topas/*.1001.log /tmp/before; \
    dpkg -r topas-hpc topas-hpc-center >/tmp/log 2>&1; \
    dpkg -P topas-hpc topas-hpc-center >/tmp/log 2>&1; \
    as ada 'command -v mpicc; mpiexec -n 2 ./cg >out 2>&1; grep -ci topas out' || true; \
    cmp /tmp/before /var/log/topas/*.1001.log && echo the same log";

/// What the README's commands print, among other things.
const PRINTED: [&str; 6] = [
    "heat: amplitude of the exact solution",
    "topas: cg, PE ",
    "\nTOPAS Report ",
    "cg of ada, 2 PEs on ",
    "\nargv[0] = ./heat\n",
    ">>>> Elapse times in (s) <<<<",
];

/// What is told in the end.
const TOLD: &str = "\
== driver
/usr/libexec/topas/wrappers/mpicc
== explained
/etc/topas/topas.conf
== asked
/usr
file:/var/log/topas/%Y-%m.%u.log
== modes
600 ada
== others
Permission denied
Permission denied
Operation not permitted
== own
cg
exe
heat
== run
1
== user off
0
== site off
/usr/bin/mpicc
0
== events
1
== mail
of heat
== pages
== removed
/usr/bin/mpicc
0
the same log
";

/// In a root that has the packages in /tmp/first.
pub fn hold_for_the_packages(root: &Path) {
    let given = root.join("tmp/given");
    fs::create_dir_all(&given).expect("a directory");
    fs::set_permissions(&given, fs::Permissions::from_mode(0o755)).expect("a mode");
    for (name, from) in SOURCES {
        fs::copy(source_root().join(from), given.join(name)).expect(name);
    }
    let install = INSTALL.replace("COMPARE_COMMAND", &documented_command("sha256sum"));
    let installed = inside(root, &install.replace("INSTALL_COMMAND", &documented_command("dpkg")));
    assert_eq!(installed.err(), "");
    installed.good();

    let (mut count, mut printed) = (0, String::new());
    for (name, script) in ["README.md", "INSTALL.md"]
        .into_iter()
        .flat_map(|name| scripts(&source_root().join(name)).into_iter().map(move |s| (name, s)))
    {
        // The packages are in /usr, and two ranks are enough. The shadow of an MPI is for those that are
        // not in /usr.
        if script.contains("/opt/intel") {
            continue;
        }
        let script = script.replace("-n 8", "-n 2").replace("/opt/topas/libexec", "/usr/libexec");
        let script = script.replace("cat var/log", "cat /var/log");
        // What reads the logs of all users is for root.
        let is_center = script.contains("topas-stat") || script.starts_with("topas-report");
        let user = if is_center { "root" } else { "ada" };
        fs::write(given.join("script"), &script).expect("the script");
        // Last week has no runs here, which a code tells.
        let call = format!(
            "cat /var/log/topas/*.log >~root/topas.log 2>/dev/null || true; \
             runuser -l {user} -c 'set -e; code=0; trap \"kill \\$! 2>/dev/null || true\" EXIT; \
             . /tmp/given/script' || test $? = 3"
        );
        let done = inside(root, &call);
        let (code, told) = (done.code(), format!("{}{}", done.out(), done.err()));
        assert_eq!(code, 0, "{name}:\n{script}{told}");
        assert!(!told.contains("error:"), "{name}:\n{script}{told}");
        count += 1;
        printed += &told;
    }
    assert!(count > 7, "{count}");
    for text in PRINTED {
        assert!(printed.contains(text), "{text} in {printed}");
    }

    let pages: String = fs::read_dir(source_root().join("doc")).expect("doc").fold(
        String::new(),
        |pages, entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_page = matches!(name.rsplit_once('.'), Some((_, "1" | "5" | "7" | "8")));
            if is_page { format!("{pages} {name}") } else { pages }
        },
    );
    let said = inside(root, &AFTER.replace("PAGES", &pages)).good().out();
    // What the doctor finds depends on the machine; that it finds something does not.
    let (before, doctor) = said.split_once("== node\n").expect("a doctor");
    let (lines, after) = doctor.split_once('\n').expect("lines of the doctor");
    assert!(lines.parse::<u32>().expect("a number of lines") > 5, "{said}");
    assert_eq!(format!("{before}{after}"), TOLD);
}

/// The command of a program that INSTALL.md tells in a sentence or in a table.
pub fn documented_command(program: &str) -> String {
    let text = fs::read_to_string(source_root().join("INSTALL.md")).expect("INSTALL.md");
    let mut commands = text.split('`').filter(|words| words.starts_with(&format!("{program} ")));
    commands.next().expect(program).to_owned()
}
