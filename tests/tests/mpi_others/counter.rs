//! A second opinion on calls: a library of the profiling interface as others write it, in C, which
//! counts the calls of C functions and nothing else. It is loaded behind ours, so that each sees
//! the same calls.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use topas_mpi_table::{Returns, functions};
use topas_tests::running::{command, run};

/// Words that a function may have; those it does not have are passed on all the same.
const WORDS: usize = 16;

/// The source: a wrapper for each function of the table that returns a word.
fn source() -> String {
    let mut text = String::from(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         #include <unistd.h>\nstatic __thread int depth;\n",
    );
    let list = |form: &dyn Fn(usize) -> String| (0..WORDS).map(form).collect::<Vec<_>>().join(", ");
    let (parameters, words) = (list(&|at| format!("long a{at}")), list(&|at| format!("a{at}")));
    let mut rows = String::new();
    for function in functions().filter(|f| f.in_c() && f.returns != Returns::Double) {
        let large = function.large.map(|_| format!("{}_c", function.name));
        for name in [function.name.to_owned()].into_iter().chain(large) {
            write!(
                text,
                "static long n_{name};\n\
                 long {name}({parameters})\n{{\n    static long (*next)({parameters});\n\
                 \x20   if (!next && !(next = (long (*)({parameters}))dlsym(RTLD_NEXT, \"P{name}\")))\n\
                 \x20       abort();\n\
                 \x20   if (depth++ == 0)\n        __atomic_add_fetch(&n_{name}, 1, __ATOMIC_RELAXED);\n\
                 \x20   long result = next({words});\n    depth--;\n    return result;\n}}\n"
            )
            .unwrap();
            writeln!(
                rows,
                "    if (n_{name}) fprintf(out, \"{} %ld\\n\", n_{name});",
                function.name
            )
            .unwrap();
        }
    }
    write!(
        text,
        "__attribute__((destructor)) static void end(void)\n{{\n    char path[4096];\n\
         \x20   snprintf(path, sizeof path, \"%s/%d\", getenv(\"COUNTS\"), (int)getpid());\n\
         \x20   FILE *out = fopen(path, \"w\");\n    if (!out)\n        abort();\n{rows}    fclose(out);\n}}\n"
    )
    .unwrap();
    text
}

/// Builds it. The same for all MPIs, as it needs no header.
pub fn build(dir: &Path) -> PathBuf {
    let (text, library) = (dir.join("counter.c"), dir.join("libcounter.so"));
    fs::write(&text, source()).expect("write");
    let mut gcc = command("gcc");
    gcc.args(["-O1", "-w", "-shared", "-fPIC", "-o"]).arg(&library).arg(&text);
    run(gcc.arg("-ldl")).good();
    library
}

/// Calls by routine, without `MPI_`, over all ranks that left their counts in a directory.
pub fn counts(dir: &Path) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for entry in fs::read_dir(dir).expect("directory of counts") {
        let text = fs::read_to_string(entry.expect("entry").path()).expect("counts");
        for line in text.lines() {
            let (name, number) = line.split_once(' ').expect("a name and a number");
            let name = name.trim_start_matches("MPI_").to_owned();
            *counts.entry(name).or_default() += number.parse::<u64>().expect("a number");
        }
    }
    counts
}
