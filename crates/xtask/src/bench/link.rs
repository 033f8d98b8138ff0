//! A link through the driver against the real one.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{Bench, interleaved, more, ms, ratio, timed};
use crate::process::run;

pub fn link(bench: &Bench) -> Result<String> {
    let dir = bench.dir.join("link");
    fs::create_dir_all(&dir)?;
    let source = dir.join("hello.c");
    fs::write(
        &source,
        "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n",
    )?;
    let mut text = String::from(
        "## Link of one object through `mpicc`\n\n\
         | driver | ms | ratio | ms more | goal |\n| --- | --- | --- | --- | --- |\n",
    );
    for (title, name) in [("Open MPI", "mpicc.openmpi"), ("MPICH", "mpicc.mpich")] {
        let object = dir.join(format!("{name}.o"));
        let real = PathBuf::from("/usr/bin").join(name);
        run(Command::new(&real).arg("-c").arg(&source).arg("-o").arg(&object))?;
        let variant = |driver: PathBuf, out: &str, topas: &str| {
            let mut command = Command::new(driver);
            command.arg(&object).arg("-o").arg(dir.join(out)).env("TOPAS", topas);
            move || timed(&mut command)
        };
        let ours = bench.paths.wrappers().join(name);
        let [real, on, off] = interleaved(
            bench.rounds(200),
            [
                Box::new(variant(real, "real", "on")),
                Box::new(variant(ours.clone(), "on", "on")),
                Box::new(variant(ours, "off", "off")),
            ],
        )?;
        for (name, time, goal) in [("real", real, ""), ("on", on, "+5 ms"), ("off", off, "+2 ms")] {
            let (ratio, more) = (ratio(time, real), more(time, real));
            writeln!(text, "| {title}, {name} | {} | {ratio} | {more} | {goal} |", ms(time))?;
        }
    }
    Ok(text)
}
