//! A thousand environments as no launcher would make them: the program never crashes, prints
//! nothing but one line about a log of the user's that is none, and ends as it does; what lines
//! there are, are lines.

use std::fs;

use topas_tests::build::plain;
use topas_tests::ending::{Language, Twins, log_target};
use topas_tests::record::read_log;
use topas_tests::running::{command, run};
use topas_tests::site::Site;

/// How many.
const ENVIRONMENTS: usize = 1000;

/// Where the random numbers begin; a failure tells it.
const SEED: u64 = 20_261_120;

/// Exit code of the program.
const CODE: i32 = 42;

/// Variables of launchers and batch systems, a family in a line; the first three of a line
/// are rank, size and id, as far as the family has them.
const FAMILIES: &[&[&str]] = &[
    &["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_orte_precondition_transports"],
    &["PMIX_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"],
    &["MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MPIRUN_ID"],
    &["PMI_RANK", "PMI_SIZE", "I_MPI_HYDRA_UUID", "PMI_FD", "PMI_SPAWNED", "MPI_LOCALNRANKS"],
    &["PMI_ID", "PMI_SIZE", "PMI_PORT", "PMI_FD"],
    &["PALS_RANKID", "PMI_SIZE", "PALS_APID", "PALS_LOCAL_RANKID"],
    &["FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_JOB_ID_PATH", "FLUX_JOB_ID", "FLUX_ENCLOSING_ID"],
    &["JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "PMIX_NAMESPACE", "LSB_JOBID"],
    &["SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_TASK_PID"],
    &["SLURM_PROCID", "SLURM_NTASKS", "SLURM_CLUSTER_NAME", "SLURM_RESTART_COUNT"],
    &["SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "ENVIRONMENT"],
    &["MPI_RANKID", "MPI_NRANKS"],
    &["MP_CHILD", "MP_PROCS", "MP_PARTITION"],
    &["GASPI_RANK", "GASPI_NRANKS", "GASPI_MASTER", "GASPI_MFILE"],
    &["ALPS_APP_PE", "ALPS_APP_ID"],
    &["MPT_MPI_RANK", "MPI_DRANK"],
    &["PJM_MPI_PROC", "PJM_JOBID", "PJM_ENVIRONMENT"],
    &["RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"],
    &["LAMRANK", "PVMSOCK", "PVMEPID"],
    &["PBS_JOBID", "PBS_ENVIRONMENT", "LSB_INTERACTIVE", "COBALT_JOBID", "LOADL_STEP_ID"],
    &["OAR_JOB_ID", "JOB_ID", "JOB_NAME", "SGE_TASK_ID", "MOAB_JOBID"],
    &["LOGNAME", "USER", "TZ", "LANG", "PATH", "HOME"],
    // Others print if the user asks for it, or asks for nonsense.
    &["TOPAS_RANK", "TOPAS_LAUNCH_ID", "TOPAS", "TOPAS_CONF", "TOPAS_", "TOPAS_PEX"],
];

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn one_of<'t, T: ?Sized>(&mut self, choices: &[&'t T]) -> &'t T {
        choices[self.below(choices.len())]
    }

    /// Any bytes but NUL.
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| (1 + self.below(255)) as u8).collect()
    }

    /// A value that a launcher would not give.
    fn wild(&mut self) -> Vec<u8> {
        const WORDS: [&str; 18] = [
            "",
            " ",
            "-1",
            "+3",
            "007",
            "0x10",
            "1e3",
            "4294967295",
            "4294967296",
            "18446744073709551616",
            "99999999999999999999999999",
            "1,2,3",
            "a b\tc\nd",
            "yes",
            "off?",
            "%n%s%99999d",
            "../../etc/passwd",
            "\u{192}W1gwrP",
        ];
        match self.below(10) {
            0..6 => self.one_of(&WORDS).as_bytes().to_vec(),
            6..9 => {
                let len = self.below(40);
                self.bytes(len)
            }
            _ => {
                let len = 90_000 + self.below(20_000);
                if self.below(2) == 0 { vec![b'9'; len] } else { self.bytes(len) }
            }
        }
    }

    /// Entries of one environment.
    fn environment(&mut self, log: &str) -> Vec<Vec<u8>> {
        let mut entries = vec![self.target(log)];
        // Half of them hold a family that is in order, and 2 of 3 of its ranks measure.
        if self.below(2) == 0 {
            let family = self.one_of(FAMILIES);
            let id = self.next() % 1000;
            let ordered = ["1", "3", &id.to_string()].map(|value| value.as_bytes().to_vec());
            for (name, value) in family.iter().zip(ordered) {
                entries.push(entry(name, &value));
            }
            if self.below(2) == 0 {
                entries.push(b"TOPAS_PE=1,2".to_vec());
            }
        }
        for _ in 0..self.below(4) {
            for name in self.one_of(FAMILIES) {
                if self.below(4) > 0 {
                    let small = self.below(9).to_string().into_bytes();
                    let value = if self.below(2) == 0 { small } else { self.wild() };
                    entries.push(entry(name, &value));
                }
            }
        }
        // Entries that are none, and some that stand there twice.
        for _ in 0..self.below(4) {
            let again = entries[self.below(entries.len())].clone();
            let name = self.one_of(FAMILIES)[0];
            entries.push(match self.below(6) {
                0 => Vec::new(),
                1 => name.as_bytes().to_vec(),
                2 => b"=".to_vec(),
                3 => entry("", name.as_bytes()),
                4 => self.wild(),
                _ => again,
            });
        }
        for at in (1..entries.len()).rev() {
            entries.swap(at, self.below(at + 1));
        }
        // An environment may also be empty.
        if self.below(50) == 0 { Vec::new() } else { entries }
    }

    /// Where a line goes: often to the log; to that of the installation if this is wrong.
    fn target(&mut self, log: &str) -> Vec<u8> {
        let value = match self.below(6) {
            0 => b"file:/nonexistent/%h/%Y.log unix:/nonexistent x:y".to_vec(),
            1 => [b"file:/dev/full ".to_vec(), log.as_bytes().to_vec()].concat(),
            2 => [b"x".to_vec(), self.wild()].concat(),
            _ => log.as_bytes().to_vec(),
        };
        entry("TOPAS_LOG", &value)
    }
}

fn entry(name: &str, value: &[u8]) -> Vec<u8> {
    [name.as_bytes(), b"=", value].concat()
}

#[test]
fn random_environments() {
    let twins = Twins::plain(Language::C);
    let (scratch, dir) = (&twins.scratch, &twins.linked);
    let runner = scratch.path().join("environments");
    plain(Site::shared(), "endings/environments.c", true, &runner);
    let log = scratch.log();
    let target = log_target(&log);
    let mut random = Random(SEED);
    let environments: Vec<_> = (0..ENVIRONMENTS).map(|_| random.environment(&target)).collect();
    let mut bytes = Vec::new();
    for entries in &environments {
        bytes.extend(u32::try_from(entries.len()).unwrap().to_ne_bytes());
        for entry in entries {
            bytes.extend(entry);
            bytes.push(0);
        }
    }
    fs::write(dir.join("environments"), bytes).expect("write the environments");

    let mut all = command(runner);
    all.args(["environments", "exit", &CODE.to_string()]).current_dir(dir);
    let results = run(&mut all).good().out();
    assert_eq!(results.lines().count(), ENVIRONMENTS);
    let mut told = 0;
    for (number, (result, entries)) in results.lines().zip(&environments).enumerate() {
        let about = || format!("seed {SEED}, number {number}: {result}\n{}", shown(entries));
        let [status, length, said] = *result.split(' ').collect::<Vec<_>>() else {
            panic!("{}", about());
        };
        assert_eq!(status, (CODE << 8).to_string(), "{}", about());
        if length == "0" {
            continue;
        }
        told += 1;
        // Of a log of the user's that takes nothing the lowest rank that measures says one line.
        let log = entries.iter().find_map(|entry| entry.strip_prefix(b"TOPAS_LOG="));
        let expected = log_told(log.unwrap_or_default());
        assert_eq!(length, expected.len().to_string(), "{}", about());
        let hex: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(said, hex, "{}", about());
    }
    assert!(told > ENVIRONMENTS / 20, "only {told} heard of a log that is none");
    // Whatever stood in the environment, a line is a line; and lines there were.
    let lines = read_log(&log);
    assert!(lines.len() > ENVIRONMENTS / 8, "only {} runs were measured", lines.len());
    for line in &lines {
        assert_eq!(line.extra("end"), format!("exit:{CODE}"), "{}", line.text);
        assert!(line.text.len() <= 1000, "{}", line.text);
    }
}

/// What is said of a list of targets that is none: its last word, as far as it fits.
fn log_told(list: &[u8]) -> Vec<u8> {
    // The site's own targets stand behind those of the user.
    const SITE: &[u8] = b".";
    let list = [list, b" ", SITE].concat();
    let trimmed = |text: &[u8]| {
        let begin = text.iter().position(|byte| *byte > b' ').unwrap_or(text.len());
        text[begin..].to_vec()
    };
    let mut rest = trimmed(&list);
    let mut word = Vec::new();
    while rest != SITE {
        let blank = rest.iter().position(|byte| *byte == b' ').expect("the site's target");
        word = rest[..blank].to_vec();
        rest = trimmed(&rest[blank..]);
    }
    let shown =
        word.iter().take(128).map(|byte| if byte.is_ascii_control() { b'?' } else { *byte });
    b"topas: TOPAS_LOG=".iter().copied().chain(shown).chain(*b" is no target\n").collect()
}

/// Entries for a message, long ones cut.
fn shown(entries: &[Vec<u8>]) -> String {
    let cut = |entry: &Vec<u8>| {
        let text = entry[..entry.len().min(100)].escape_ascii().to_string();
        format!("  {text} ({} bytes)\n", entry.len())
    };
    entries.iter().map(cut).collect()
}
