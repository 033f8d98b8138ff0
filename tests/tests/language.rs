//! The language of a program whose parts are of several, linked by several drivers' answers; and
//! what several modules in a link come to.

use std::path::{Path, PathBuf};

use topas_tests::build::with_module;
use topas_tests::mpi_installation::emulate_rank;
use topas_tests::record::Record;
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::{note, skip};

const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// Sources of one directory, by name.
const SOURCES: [(&str, &str); 8] = [
    ("c.c", "int main(void) { return 0; }"),
    ("cxx.cc", "#include <iostream>\nint main() { std::cout << \"\"; return 0; }"),
    ("f.f90", "program p\nprint *, 'p'\nend program"),
    // Programs that use parts.
    ("c_f.c", "void part_f_(void); int main(void) { part_f_(); return 0; }"),
    ("f_c.f90", "program p\ncall part_c\ncall part_cxx\nprint *, 'p'\nend program"),
    // Parts.
    ("part_c.c", "void part_c_(void) {}"),
    ("part_f.f90", "subroutine part_f\nprint *, 'part'\nend subroutine"),
    (
        "part_cxx.cc",
        "#include <string>\n#include <iostream>\nextern \"C\" void part_cxx_(void)\n\
         { std::string text(100, 'x'); std::cout << text.substr(50).size() << '\\n'; }",
    ),
];

/// A directory with the sources as objects, with and without information for LTO.
struct LanguageParts {
    scratch: Scratch,
}

impl LanguageParts {
    fn new() -> Self {
        let scratch = Scratch::new();
        for (name, source) in SOURCES {
            let file = scratch.path().join(name);
            std::fs::write(&file, format!("{source}\n")).expect("source");
            for (suffix, option) in [("o", "-O1"), ("lto.o", "-flto")] {
                let compiler = match name.rsplit('.').next() {
                    Some("c") => "gcc",
                    Some("cc") => "g++",
                    _ => "gfortran",
                };
                let object = file.with_extension(suffix);
                run(command(compiler).args(["-c", "-fPIC", option, "-o"]).args([&object, &file]))
                    .good();
            }
        }
        LanguageParts { scratch }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Links `words`, in which `{c}` is what an answer of the driver of C adds, and a name without
    /// a suffix is one of the objects. False, with a note, where the tools at hand cannot.
    fn link(&self, words: &str, lto: bool, output: &Path) -> bool {
        let links = |with: bool| {
            let mut words = words.split_whitespace();
            let mut link = command(words.next().expect("a compiler"));
            for word in words {
                let language = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
                match language {
                    Some(language) if with => {
                        link.arg(with_module(Site::shared(), &format!("{language}.init")));
                    }
                    Some(_) => {}
                    None if word.starts_with(['-', '/']) || word.contains('.') => {
                        link.arg(word);
                    }
                    None => {
                        link.arg(self.path(&format!("{word}.{}", if lto { "lto.o" } else { "o" })));
                    }
                }
            }
            run(link.arg("-o").arg(output).current_dir(self.scratch.path()))
        };
        let linked = links(true);
        if linked.code() != 0 {
            let bare = links(false);
            assert_ne!(bare.code(), 0, "{words}: links without the module only: {}", linked.err());
            note(words, bare.err().lines().next().unwrap_or_default());
        }
        linked.code() == 0
    }

    /// The one line of a rank.
    #[track_caller]
    fn line(&self, program: &Path, case: &str) -> Record {
        let mut rank = self.scratch.command(program);
        emulate_rank(&mut rank, 1, 4, KEY);
        rank.env("TOPAS_PE", "1").env("LD_LIBRARY_PATH", self.scratch.path());
        run(&mut rank).good();
        let mut lines = self.scratch.take_log();
        assert_eq!(lines.len(), 1, "{case}: lines");
        lines.remove(0)
    }

    #[track_caller]
    fn is_told(&self, words: &str, lto: bool, language: &str) {
        let program = self.path("program");
        if self.link(words, lto, &program) {
            let line = self.line(&program, words);
            assert_eq!(line.lang.word(), language, "{words}: {}", line.text);
        }
    }
}

/// Whether the compilers are there.
fn compilers(test: &str) -> bool {
    let lacking = ["g++", "gfortran"].into_iter().find(|compiler| !have(compiler));
    if let Some(compiler) = lacking {
        skip(test, &format!("no {compiler}"));
    }
    lacking.is_none()
}

#[test]
fn the_main_program_tells_the_language() {
    if !compilers("the_main_program_tells_the_language") {
        return;
    }
    let parts = LanguageParts::new();
    for (words, language) in [
        ("gcc c {c}", "c"),
        ("g++ cxx {cxx}", "cxx"),
        ("gfortran f {f77}", "f77"),
        ("gfortran f {f90}", "f90"),
        // Answers on behalf of a library come first.
        ("g++ cxx {c}", "cxx"),
        ("g++ cxx {c} {cxx}", "cxx"),
        ("gfortran f {c}", "f90"),
        ("gfortran f {c} {f77}", "f77"),
        ("gfortran f {c} {cxx} {f90} {c} {f90}", "f90"),
        // No trace of C++ in it.
        ("g++ c {c} {cxx}", "cxx"),
        // Parts in other languages.
        ("gcc c_f part_f {c} -lgfortran", "c"),
        ("gfortran c_f part_f {f90}", "c"),
        ("gfortran c_f part_f {c} {f90}", "c"),
        ("gfortran f_c part_c part_cxx {c} {cxx} -lstdc++", "f90"),
        ("gfortran f_c part_c part_cxx {f77} -lstdc++", "f77"),
        ("g++ cxx part_c part_f {c} {f90} -lgfortran", "cxx"),
    ] {
        // What is looked at is the same in all; each way once in every language.
        let ways: &[&str] = match words.matches('{').count() {
            1 => &["", " -s -no-pie", " -O2 -flto"],
            _ => &[" -Wl,--gc-sections"],
        };
        for more in ways {
            parts.is_told(&format!("{words}{more}"), more.contains("flto"), language);
        }
    }
    // Nothing can be seen from outside: what the drivers say.
    for (words, language) in [
        ("gcc -static c {c}", "c"),
        ("g++ -static cxx {cxx}", "cxx"),
        ("g++ -static cxx {c} {cxx}", "cxx"),
        ("gfortran -static f {f77}", "f77"),
        ("gfortran -static f {c} {cxx} {f90}", "f90"),
        ("gfortran -static -s f {f90} {c}", "f90"),
        ("gfortran -static-libgfortran f {c} {f90}", "f90"),
        ("gfortran -static-pie f {c} {f90}", "f90"),
    ] {
        parts.is_told(words, false, language);
    }
}

/// Main programs of compilers that are not at hand, by what the starts of theirs define or call.
#[test]
fn starts_of_other_compilers() {
    let parts = LanguageParts::new();
    let runtime = parts.path("runtime.c");
    let source = "void _FortranAProgramStart(void) {}\nvoid fort_init(void) {}\n\
                  void for_rtl_init_(void) {}\n";
    std::fs::write(&runtime, source).expect("source");
    let library = parts.path("libruntime.so");
    run(command("gcc").args(["-shared", "-fPIC", "-o"]).args([&library, &runtime])).good();
    for (start, language) in [
        ("void _QQmain(void) {}\nint main(void) { _QQmain(); return 0; }", "f90"),
        ("void MAIN__(void) {}\nint main(void) { MAIN__(); return 0; }", "f90"),
        ("void fort_init(void);\nint main(void) { fort_init(); return 0; }", "f90"),
        ("void for_rtl_init_(void);\nint main(void) { for_rtl_init_(); return 0; }", "f90"),
        ("void _FortranAProgramStart(void);\nint main(void) { _FortranAProgramStart(); }", "f90"),
        ("void fort_other(void) {}\nint main(void) { fort_other(); return 0; }", "c"),
    ] {
        std::fs::write(parts.path("start.c"), format!("{start}\n")).expect("source");
        for more in ["", "-s"] {
            let words = format!("gcc start.c {{c}} libruntime.so {more}");
            parts.is_told(&words, false, language);
        }
    }
}

/// The copy of a library runs first, but what the executable is and knows holds.
#[test]
fn a_librarys_copy() {
    if !compilers("a_librarys_copy") {
        return;
    }
    let parts = LanguageParts::new();
    let library = parts.path("libpart.so");
    assert!(parts.link("gcc -shared part_c {c}", false, &library));
    let exported = run(command("nm").arg("-D").arg(&library)).good().out();
    assert!(exported.contains("part_c_") && !exported.contains("topas"), "{exported}");
    for (words, language) in [
        ("gfortran f", "f90"),
        ("gfortran f {f77}", "f77"),
        ("g++ cxx", "cxx"),
        ("g++ c {cxx}", "cxx"),
        ("gcc c {c}", "c"),
    ] {
        for more in ["", " -rdynamic"] {
            parts.is_told(&format!("{words} -Wl,--no-as-needed libpart.so{more}"), false, language);
        }
    }
    let exported = run(command("nm").arg("-D").arg(parts.path("program"))).good().out();
    assert!(exported.contains("main") && !exported.contains("topas"), "{exported}");
}

/// Sizes of the sections of a program that take room in memory: code and constants, data, zeros.
fn sizes(program: &Path) -> [u64; 3] {
    let shown = run(command("size").arg(program)).good().out();
    let mut words = shown.lines().nth(1).unwrap_or_default().split_whitespace();
    std::array::from_fn(|_| words.next().and_then(|word| word.parse().ok()).expect("a size"))
}

/// Of the modules of five answers one is linked, by every linker.
#[test]
fn five_modules_are_one() {
    if !compilers("five_modules_are_one") {
        return;
    }
    let parts = LanguageParts::new();
    let (one, five) = (parts.path("one"), parts.path("five"));
    for linker in ["bfd", "gold", "lld", "mold"] {
        if !have(&format!("ld.{linker}")) {
            skip("five_modules_are_one", &format!("no ld.{linker}"));
            continue;
        }
        let ways = ["", "-flto -O2", "-static -s", "-Wl,--gc-sections -Wl,--wrap=exit"];
        for way in &ways[..if linker == "bfd" { 4 } else { 2 }] {
            let link = |modules: &str, output: &Path| {
                let words = format!("gfortran -fuse-ld={linker} {way} f {modules}");
                parts.link(&words, way.contains("flto"), output)
            };
            if !link("{f90}", &one) || !link("{c} {c} {cxx} {f77} {f90}", &five) {
                continue;
            }
            let case = format!("{linker} {way}");
            let ([text, data, bss], many) = (sizes(&one), sizes(&five));
            assert!(many[0] < text + 1000, "{case}: text {text} B becomes {} B", many[0]);
            assert!(many[1] < data + 100, "{case}: data {data} B becomes {} B", many[1]);
            assert!(many[2] < bss + 100, "{case}: bss {bss} B becomes {} B", many[2]);
            let line = parts.line(&five, &case);
            assert_eq!(line.lang.word(), "f90", "{case}: {}", line.text);
            assert_eq!(line.extra("end"), "exit:0", "{case}: {}", line.text);
        }
    }
    // Objects that were linked partially, each with a module.
    for (object, words) in [("r1.o", "ld -r f.o {c}"), ("r2.o", "ld -r part_c.o {f77}")] {
        let words = words.replace('{', "@").replace('}', "");
        let mut link = command("ld");
        for word in words.split_whitespace().skip(1) {
            match word.strip_prefix('@') {
                Some(language) => {
                    link.arg(Site::shared().module(&format!("{language}.init")));
                }
                None => {
                    link.arg(word);
                }
            }
        }
        run(link.args(["-o", object]).current_dir(parts.scratch.path())).good();
    }
    assert!(parts.link("gfortran r1.o r2.o", false, &five));
    assert!(parts.link("gfortran f part_c {c}", false, &one));
    assert!(sizes(&five)[0] < sizes(&one)[0] + 1000, "{:?} {:?}", sizes(&one), sizes(&five));
    assert_eq!(parts.line(&five, "partial links").lang.word(), "f77");
}
