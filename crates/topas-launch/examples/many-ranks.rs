//! The choice of the measuring ranks in launches of many ranks, as each rank makes it by itself from
//! its environment: `many-ranks RANKS HOSTS LAUNCHES`. Fails unless in each launch all ranks have the
//! same id, exactly two measure, none of them is an edge, and no other launch has the id.

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Instant;

use topas_launch::choice;
use topas_launch::launcher::{Proof, nearest};
use topas_launch::vars::Vars;

/// Slurm proves its launches by the environment alone.
struct NoProof;

impl Proof for NoProof {
    fn own_pid(&mut self) -> u32 {
        1
    }

    fn peer(&mut self, _: u32) -> Option<u32> {
        None
    }

    fn control_port(&mut self, _: u32) -> u64 {
        0
    }
}

/// What one launch showed: its id, or what was wrong.
fn launch(job: u64, ranks: u32, hosts: u32) -> Result<u64, String> {
    let (size, job) = (format!("SLURM_STEP_NUM_TASKS={ranks}"), format!("SLURM_JOB_ID={job}"));
    let nodes = format!("SLURM_STEP_NUM_NODES={hosts}");
    let (mut id, mut measuring) = (None, Vec::new());
    for rank in 0..ranks {
        let own = format!("SLURM_PROCID={rank}");
        let local = format!("SLURM_LOCALID={}", rank % ranks.div_ceil(hosts));
        let mut vars = Vars::new();
        for entry in [&own, &size, &job, &nodes, &local] {
            vars.offer(entry.as_bytes());
        }
        for entry in ["SLURM_STEP_ID=0", "SLURM_STEPID=0", "SLURM_NPROCS=1"] {
            vars.offer(entry.as_bytes());
        }
        let found = nearest(&vars, &mut NoProof).ok_or("no launcher")?;
        if (found.rank, found.size) != (rank, ranks) || *id.get_or_insert(found.id) != found.id {
            return Err(format!("rank {rank} of {job}: {found:?}"));
        }
        measuring.extend(choice::place(found.id, ranks, rank).map(|_| rank));
    }
    match measuring[..] {
        [low, high] if low > 0 && high < ranks - 1 => id.ok_or_else(|| "no ranks".into()),
        _ => Err(format!("{job}: {measuring:?} measure")),
    }
}

fn main() -> ExitCode {
    let numbers: Vec<u32> = std::env::args().skip(1).filter_map(|n| n.parse().ok()).collect();
    let [ranks, hosts, launches] = numbers[..] else {
        eprintln!("many-ranks: error: usage: many-ranks RANKS HOSTS LAUNCHES");
        return ExitCode::from(2);
    };
    let begun = Instant::now();
    let mut ids = HashSet::new();
    for job in 0..launches.into() {
        match launch(job, ranks, hosts) {
            Ok(id) if ids.insert(id) => {}
            Ok(id) => {
                eprintln!("many-ranks: error: two launches have the id {id:016x}");
                return ExitCode::FAILURE;
            }
            Err(what) => {
                eprintln!("many-ranks: error: {what}");
                return ExitCode::FAILURE;
            }
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let each = 1e9 * seconds / (f64::from(ranks) * f64::from(launches));
    println!(
        "{launches} launches of {ranks} ranks on {hosts} hosts: two inner ranks measure in each; \
         {seconds:.1} s, {each:.0} ns a rank"
    );
    ExitCode::SUCCESS
}
