//! `--all-pe` and the wishes of a user, one process at a time: inside and from outside alike.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use nix::unistd::geteuid;
use topas_format::event::Metric;
use topas_tests::mpi_installation::emulate_rank;
use topas_tests::record::read_log;
use topas_tests::running::run;
use topas_tests::site::Scratch;
use topas_tests::skip::skip;
use topas_tests::small_disk::SmallDisk;

use crate::{KEY, as_rank, built, one_line, topas_run};

/// Loaded into the program, and from outside.
const BOTH: [&[&str]; 2] = [&[], &["--outside"]];

#[test]
fn a_program_alone_is_rank_0_of_1() {
    let scratch = Scratch::new();
    let program = built(&scratch, "c/says.c", "says");
    let file = scratch.path().join("topas.out");
    for options in BOTH {
        let mut alone = scratch.command(topas_run());
        alone.current_dir(scratch.path()).args(options).arg("--all-pe").arg(&program);
        let ended = run(&mut alone).ends(3);
        assert_eq!(ended.err(), "a warning of the program\n");
        let lines = read_log(&file);
        assert_eq!(lines.len(), 1, "{options:?}");
        let line = &lines[0];
        let shown = (line.pe, line.npes, line.extra("via"), line.extra("end"));
        assert_eq!(shown, (0, 1, "run", "exit:3"), "{}", line.text);
        // The site does not measure such programs.
        assert!(scratch.take_log().is_empty(), "{options:?}");
        fs::remove_file(&file).expect("remove");
    }
}

#[test]
fn the_file_is_where_the_user_wants_it() {
    let scratch = Scratch::new();
    let program = built(&scratch, "c/says.c", "says");
    for options in BOTH {
        let mut rank = as_rank(&scratch, 3);
        rank.env("TOPAS_OUT", "runs-%i/%u.out").env("TOPAS_OPS", "stores");
        run(rank.args(options).arg("--all-pe").arg(&program)).ends(3);
        // Not chosen: nothing in the log.
        assert!(scratch.take_log().is_empty(), "{options:?}");
        let dirs: Vec<_> = fs::read_dir(scratch.path())
            .expect("directory")
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("runs-"))
            .collect();
        assert_eq!(dirs.len(), 1, "{options:?}: {dirs:?}");
        let lines = read_log(&dirs[0].join(format!("{}.out", geteuid())));
        assert_eq!(lines.len(), 1, "{options:?}");
        assert_eq!((lines[0].pe, lines[0].metric), (3, Metric::Stores), "{}", lines[0].text);
        assert!(dirs[0].to_string_lossy().ends_with(&lines[0].id), "{dirs:?}");
        fs::remove_dir_all(&dirs[0]).expect("remove");
    }
}

/// Without any room the sentence is said, and no empty file stays that would tell of a run
/// without ranks.
#[test]
fn no_file_stays_on_a_full_file_system() {
    let scratch = Scratch::new();
    let program = built(&scratch, "c/says.c", "says");
    let dir = scratch.sub("small");
    let Some(disk) = SmallDisk::mount(&dir, "size=64k,mode=1777") else {
        return skip("no_file_stays_on_a_full_file_system", "no file system can be mounted");
    };
    let filler = disk.leave(0);
    let file = dir.join("topas.out");
    for options in BOTH {
        let mut command = as_rank(&scratch, 0);
        command.env("OMPI_COMM_WORLD_LOCAL_RANK", "0").env("TOPAS_OUT", &file);
        let ended = run(command.args(options).arg("--all-pe").arg(&program)).ends(3);
        let sentence = format!("topas: not written: {}: no space left", file.display());
        let said = ended.err().to_lowercase();
        assert!(said.contains(&sentence.to_lowercase()), "{options:?}: {said}");
        assert!(!file.exists(), "{options:?}");
    }
    fs::remove_file(filler).expect("remove");
    run(as_rank(&scratch, 0).env("TOPAS_OUT", &file).arg("--all-pe").arg(&program)).ends(3);
    assert_eq!(read_log(&file).len(), 1);
}

/// One clear sentence from the first rank of the host, none from others.
#[test]
fn a_file_that_cannot_be_written_is_told_once() {
    let scratch = Scratch::new();
    let program = built(&scratch, "c/says.c", "says");
    for options in BOTH {
        for (rank, words) in [(0, 1), (2, 0)] {
            let mut command = as_rank(&scratch, rank);
            command.env("OMPI_COMM_WORLD_LOCAL_RANK", rank.to_string());
            command.env("TOPAS_OUT", "/nonexistent/topas.out");
            let ended = run(command.args(options).arg("--all-pe").arg(&program)).ends(3);
            let told = ended.err().matches("topas: not written: /nonexistent/topas.out").count();
            assert_eq!(told, words, "{options:?}: {}", ended.err());
        }
    }
}

#[test]
fn results_are_printed_in_the_same_words() {
    let scratch = Scratch::new();
    let program = built(&scratch, "c/says.c", "says");
    let said = BOTH.map(|options| {
        let mut rank = as_rank(&scratch, 1);
        let ended = run(rank.env("TOPAS_PRINT", "yes").args(options).arg(&program)).ends(3);
        one_line(&scratch);
        let err = ended.err();
        let numbers = |c: char| if c.is_ascii_digit() { '0' } else { c };
        err.chars().map(numbers).collect::<String>()
    });
    assert!(said[0].contains("topas: says, PE 0 of 0, launch "), "{}", said[0]);
    assert!(said[0].contains("topas:   wall clock 0.000 s, CPU user "), "{}", said[0]);
    assert_eq!(said[0], said[1]);
}

/// Rank 0 says it, whether it measures or not, and however.
#[test]
fn a_list_of_ranks_that_is_none_is_told_once() {
    const SENTENCE: &str =
        "topas: TOPAS_PE=1,9 names a rank this run lacks: two chosen at random\n";
    let scratch = Scratch::new();
    let program = built(&scratch, "c/says.c", "says");
    for options in BOTH {
        // Of two ranks both measure, of four rank 0 never does.
        for (rank, size, words) in [(0, 2, 1), (1, 2, 0), (0, 4, 1), (3, 4, 0)] {
            let mut command = scratch.command(topas_run());
            emulate_rank(&mut command, rank, size, KEY);
            let ended = run(command.env("TOPAS_PE", "1,9").args(options).arg(&program)).ends(3);
            let said = ended.err();
            assert_eq!(said.matches(SENTENCE).count(), words, "{rank} of {size}: {said}");
            assert_eq!(scratch.take_log().len(), usize::from(size == 2), "{rank} of {size}");
        }
    }
    let mut command = as_rank(&scratch, 1);
    let ended = run(command.env("TOPAS_OPS", "flops").arg("--outside").arg(&program)).ends(3);
    let sentence = "topas: TOPAS_OPS=flops names no operations\n";
    assert!(ended.err().contains(sentence), "{}", ended.err());
    one_line(&scratch);
}

/// A log of the user's that cannot be written is told once, and whoever asks hears it, too.
/// That the line goes to the log of the site is tested beside the same rule of the module.
#[test]
fn a_log_that_cannot_be_written() {
    let scratch = Scratch::new();
    let program = built(&scratch, "c/says.c", "says");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("mode");
    for target in ["file:/nonexistent/log", "file:/dev/full", "unix:/nonexistent", "nonsense"] {
        for options in BOTH {
            let mut command = as_rank(&scratch, 1);
            command.env("TOPAS_LOG", target).args(options).arg(&program);
            let said = run(&mut command).ends(3).err();
            let told = format!("a warning of the program\ntopas: TOPAS_LOG={target}");
            assert!(said.starts_with(&told), "{options:?}: {said}");
            assert_eq!(said.lines().count(), 2, "{options:?}: {said}");
            // The other rank that measures says it only if asked.
            let mut second = as_rank(&scratch, 2);
            second.env("TOPAS_LOG", target).args(options).arg(&program);
            assert_eq!(run(&mut second).ends(3).err(), "a warning of the program\n");
            let said = run(second.env("TOPAS_VERBOSE", "1")).ends(3).err();
            assert!(said.contains(target), "{options:?}: {said}");
        }
    }
}

/// Who asks for every rank and cannot have it hears so from one of them.
#[test]
fn what_cannot_be_had_is_told_by_one_rank() {
    let scratch = Scratch::new();
    built(&scratch, "c/says.c", "says");
    let inner = format!("{} --all-pe ./says", topas_run().display());
    for (rank, words) in [(0, 1), (3, 0)] {
        let mut command = as_rank(&scratch, rank);
        // Within a rank that measures there is no other.
        let ended = run(command.args(["--all-pe", "sh", "-c", &inner])).ends(3);
        let told =
            ended.err().matches("topas-run: not measured: child of a measuring rank").count();
        assert_eq!(told, words, "rank {rank}: {}", ended.err());
    }
}
