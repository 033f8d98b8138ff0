//! `topas-mpi list`.

use nix::unistd::getuid;
use serde_json::{Value, json};
use topas_config::Environment;
use topas_mpi_data::{Ending, MpiProfile, Origin, SpoolError, read_spool};
use topas_terminal::Printed;

use crate::args::List;
use crate::spool::{conf, directories};
use crate::table::{aligned, cell};
use crate::{TOOL, exit};

/// Lists: the exit code.
pub fn run(options: &List, env: &Environment) -> u8 {
    let conf = conf(env);
    let uid = (!options.all_users).then(|| getuid().as_raw());
    let mut worst = exit::OK;
    let mut profiles = Vec::new();
    for directory in directories(&options.spool, &conf, env) {
        match read_spool(&directory, uid) {
            Ok(found) => {
                profiles.extend(found.profiles.into_iter().map(|p| (directory.clone(), p)));
                for (path, cause) in found.refused {
                    // Those of others are theirs.
                    if matches!(&cause, SpoolError::File(cause) if options.all_users
                        && cause.kind() == std::io::ErrorKind::PermissionDenied)
                    {
                        continue;
                    }
                    let what = format!("cannot read {}", path.display());
                    TOOL.error(&what, Some(&cause), "");
                    worst = exit::FAILED;
                }
            }
            Err(cause) => {
                let what = format!("cannot list {}", directory.display());
                TOOL.error(&what, Some(&cause), "check the directory and its permissions");
                worst = exit::FAILED;
            }
        }
    }
    let text = if options.json {
        let launches: Vec<Value> =
            profiles.iter().map(|(dir, profile)| object(dir, profile)).collect();
        format!("{:#}\n", json!({ "schema": "topas.mpi.list/1", "launches": launches }))
    } else {
        let shown: Vec<&MpiProfile> = profiles.iter().map(|(_, profile)| profile).collect();
        table(&shown)
    };
    match TOOL.print(text.as_bytes()) {
        Printed::Done => worst,
        Printed::Failed => exit::FAILED,
    }
}

/// How the launch is, in a word.
fn state(profile: &MpiProfile) -> &'static str {
    match (profile.origin, profile.facts.ending) {
        (Origin::Live, _) => "runs",
        (_, Some(Ending::Abort(_))) => "abort",
        (_, Some(Ending::Exit)) => "exit",
        _ => "lost",
    }
}

/// The ranks here, of all of the launch.
fn ranks(profile: &MpiProfile) -> String {
    let all = profile.facts.npes.map_or_else(|| "-".to_owned(), |npes| npes.to_string());
    format!("{}/{all}", profile.total.ranks)
}

fn table(profiles: &[&MpiProfile]) -> String {
    if profiles.is_empty() {
        return String::new();
    }
    let heads = ["STATE", "RANKS", "WALL[s]", "MPI[%]", "CALLS", "USER", "PROGRAM", "ID"];
    let mut rows: Vec<[String; 8]> = vec![heads.map(str::to_owned)];
    for profile in profiles {
        let total = &profile.total;
        let share = match total.wall {
            0 => "-".to_owned(),
            wall => format!("{:.1}", 100.0 * total.mpi as f64 / wall as f64),
        };
        rows.push([
            state(profile).to_owned(),
            ranks(profile),
            format!("{:.3}", total.wall_max as f64 / 1e9),
            share,
            total.calls().to_string(),
            cell(&profile.facts.user),
            cell(&profile.facts.exe),
            cell(&profile.facts.id),
        ]);
    }
    aligned(&rows, |column| !(1..=4).contains(&column))
}

fn object(directory: &std::path::Path, profile: &MpiProfile) -> Value {
    let text = |name: &[u8]| match name {
        [] => Value::Null,
        name => String::from_utf8_lossy(name).into(),
    };
    let facts = &profile.facts;
    let inside: Vec<Value> = profile
        .inside
        .iter()
        .map(|(rank, inside)| {
            let routine = format!("MPI_{}", profile.routines.name(inside.routine));
            json!({
                "rank": rank,
                "routine": routine,
                "seconds": inside.time.map(|time| time as f64 / 1e9),
            })
        })
        .collect();
    json!({
        "spool": directory.display().to_string(),
        "state": state(profile),
        "id": text(&facts.id),
        "user": text(&facts.user),
        "uid": facts.uid,
        "exe": text(&facts.exe),
        "job": text(&facts.job),
        "ranks_here": profile.total.ranks,
        "ranks": facts.npes,
        "wall_seconds": profile.total.wall_max as f64 / 1e9,
        "mpi_seconds": profile.total.mpi as f64 / 1e9,
        "calls": u64::try_from(profile.total.calls()).unwrap_or(u64::MAX),
        "inside": inside,
    })
}
