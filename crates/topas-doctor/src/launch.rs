//! The launcher around this process, and what it would mean for a program in its place.

use topas_config::Environment;
use topas_format::field::Mode;
use topas_format::out::Out;
use topas_launch::proxy::COMMAND_LINE;
use topas_launch::{Proof, Rank, Var, Vars, choice, job, marker, named, nearest};
use topas_node::proof::{KernelProof, OnStack};

/// What started this process.
#[derive(Debug)]
pub struct Launch {
    /// The rank it is; None if no launcher of the table started it
    pub rank: Option<Rank>,
    /// Ranks that measure, in ascending order; empty if none does
    pub measuring: Vec<u32>,
    /// Whether this process is a descendant of a measuring rank
    pub is_child: bool,
    /// Whether a batch job runs it
    pub batch: bool,
    /// Job id, empty without one
    pub job: String,
    /// Step, where the launcher has one
    pub step: Option<String>,
}

impl Launch {
    /// What the variables of a process, and proofs asked of this one, say.
    pub fn of(env: &Environment) -> Self {
        Launch::with_proof(env, &mut KernelProof { room: &mut [0; COMMAND_LINE], path: OnStack })
    }

    fn with_proof(env: &Environment, proof: &mut impl Proof) -> Self {
        let entries = env.entries();
        let mut vars = Vars::new();
        entries.iter().for_each(|entry| vars.offer(entry));
        let rank = nearest(&vars, proof);
        let mut buffer = [0; 256];
        let mut id = Out::new(&mut buffer);
        job::write_id(&vars, &mut id);
        let step = rank.and_then(|rank| job::step(&vars, rank.family));
        Launch {
            measuring: rank.map(|rank| measuring(&vars, &rank)).unwrap_or_default(),
            is_child: rank.is_some_and(|rank| {
                let found = vars.text(Var::TopasRank);
                !found.is_empty() && marker::is_of_another(found, &rank, proof.own_pid())
            }),
            rank,
            batch: job::mode(&vars) == Mode::Batch,
            job: String::from_utf8_lossy(id.text()).into_owned(),
            step: step.map(|step| String::from_utf8_lossy(step).into_owned()),
        }
    }

    /// The launcher for people.
    pub fn family(&self) -> Option<&'static str> {
        self.rank.map(|rank| rank.family.name())
    }

    /// Whether a program in place of this process would measure, or why not.
    pub fn would_measure(&self) -> Result<(), &'static str> {
        match self.rank {
            None => Err("no launcher: a program run alone is not measured"),
            Some(rank) if rank.size == 1 => Err("a run of one rank is not measured"),
            Some(_) if self.is_child => Err("a child of a measuring rank is not measured"),
            Some(rank) if self.measuring.contains(&rank.rank) => Ok(()),
            Some(_) => Err("this rank is not one of those that measure"),
        }
    }
}

/// The ranks of a launch that measure.
fn measuring(vars: &Vars<'_>, rank: &Rank) -> Vec<u32> {
    let listed = vars.get(Var::TopasPe).filter(|list| {
        // The list is judged as a whole, whatever the rank.
        named::place(list, rank.size, rank.rank).is_ok()
    });
    match listed {
        Some(list) => {
            let text = String::from_utf8_lossy(list);
            let mut ranks: Vec<u32> = text.split(',').filter_map(|n| n.parse().ok()).collect();
            ranks.sort_unstable();
            ranks
        }
        None => choice::two(rank.id, rank.size).map(|(a, b)| vec![a, b]).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use topas_testkit::ProcessAlone;

    use super::*;

    fn of(variables: &[(&str, &str)]) -> Launch {
        Launch::with_proof(&variables.iter().copied().collect(), &mut ProcessAlone)
    }

    const OMPI: [(&str, &str); 3] = [
        ("OMPI_COMM_WORLD_RANK", "3"),
        ("OMPI_COMM_WORLD_SIZE", "8"),
        ("PMIX_NAMESPACE", "3745579009"),
    ];

    #[test]
    fn without_a_launcher_nothing_is_measured() {
        let launch = of(&[("USER", "mohr")]);
        assert!(launch.rank.is_none() && launch.measuring.is_empty() && launch.job.is_empty());
        assert!(launch.would_measure().unwrap_err().contains("no launcher"));
    }

    #[test]
    fn two_ranks_of_a_launch_measure_and_a_list_names_others() {
        let launch = of(&OMPI);
        assert_eq!(launch.family(), Some("Open MPI (mpirun)"));
        let [low, high] = launch.measuring[..] else { panic!("{:?}", launch.measuring) };
        assert!(1 <= low && low < high && high <= 6);
        let list = |list| of(&[&OMPI[..], &[("TOPAS_PE", list)]].concat());
        assert_eq!(list("7,3").measuring, [3, 7]);
        assert_eq!(list("7,3").would_measure(), Ok(()));
        assert!(list("7,2").would_measure().is_err());
        assert_eq!(list("7,8").measuring, launch.measuring);
        assert_eq!(list("3,3").measuring, launch.measuring);
    }

    #[test]
    fn where_no_size_is_told_two_ranks_are_fixed() {
        let launch = of(&[("ALPS_APP_PE", "3"), ("ALPS_APP_ID", "9")]);
        assert_eq!(
            (launch.family(), &launch.measuring[..]),
            (Some("Cray ALPS (aprun)"), &[1, 2][..])
        );
        let launch = of(&[("ALPS_APP_PE", "3"), ("TOPAS_PE", "3,4000")]);
        assert_eq!((launch.would_measure(), &launch.measuring[..]), (Ok(()), &[3, 4000][..]));
    }

    #[test]
    fn a_single_rank_and_a_child_do_not_measure() {
        let alone = of(&[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")]);
        assert!(alone.measuring.is_empty());
        assert!(alone.would_measure().unwrap_err().contains("one rank"));
        let mut buffer = [0; marker::SIZE];
        let mut out = Out::new(&mut buffer);
        marker::write(&mut out, &of(&OMPI).rank.unwrap(), 99);
        let text = String::from_utf8(out.text().to_vec()).unwrap();
        let value = text.trim_end_matches('\0').strip_prefix("TOPAS_RANK=").unwrap();
        let child = of(&[&OMPI[..], &[("TOPAS_RANK", value), ("TOPAS_PE", "3")]].concat());
        assert!(child.is_child);
        assert!(child.would_measure().unwrap_err().contains("child"));
    }

    #[test]
    fn batch_jobs_have_an_id() {
        let launch = of(&[("ENVIRONMENT", "BATCH"), ("SLURM_JOB_ID", "12")]);
        assert!(launch.batch && launch.job == "12" && launch.step.is_none());
        assert!(!of(&[]).batch);
    }
}
