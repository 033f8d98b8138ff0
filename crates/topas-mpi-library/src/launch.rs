//! Which launch this is: id, rank, user, program, job, as in the line of the log.

use topas_format::env::is_off;
use topas_format::field::Mode;
use topas_format::out::Out;
use topas_format::text::Cursor;
use topas_launch::extended::Extended;
use topas_launch::hash::{Fnv, spread};
use topas_launch::proxy::COMMAND_LINE;
use topas_launch::{Family, Proof, Rank, Var, Vars, find, job};
use topas_mpi_profile::layout::Header;
use topas_node::program::executable;
use topas_node::proof::{KernelProof, OnStack};
use topas_node::sys as kernel;

use crate::workspace::{Workspace, keep, kept};
use crate::{first_proxy, switches, sys};

/// Whether this process is the first rank of a launch, or of none: it speaks for the others.
pub fn is_first() -> bool {
    of_environment().is_none_or(|rank| rank.rank == 0)
}

/// What the launcher says of this rank; None of a process that runs alone.
fn of_environment() -> Option<Rank> {
    let mut room = [0; COMMAND_LINE];
    let mut rank = Rank { family: Family::Own, rank: 0, size: 0, id: 0 };
    let mut proof = KernelProof { room: &mut room, path: OnStack };
    find(&variables(), &mut proof, &mut rank).then_some(rank)
}

/// How many ranks of this launch the launcher has started on this node; None if it does not tell.
pub fn ranks_here() -> Option<u32> {
    let mut extended = Extended::new();
    sys::environment().for_each(|entry| extended.offer(entry));
    extended.ranks_here(&of_environment()?)
}

/// What the environment says of now.
fn variables() -> Vars<'static> {
    let mut vars = Vars::new();
    for entry in sys::environment() {
        if entry.first().is_some_and(|first| Vars::may_begin(*first)) {
            vars.offer(entry);
        }
    }
    vars
}

/// Notes all of it. The environment is that of now: a program that has changed it before its first
/// call of MPI may be told wrong.
pub fn describe(header: &mut Header, room: &mut Workspace) {
    let vars = variables();
    let mut rank = Rank { family: Family::Own, rank: 0, size: 0, id: 0 };
    let mut proof = KernelProof { room: &mut room.file, path: OnStack };
    let found = find(&vars, &mut proof, &mut rank);
    if !found {
        // As the module has it for a program that runs alone: nobody gave it an id.
        let clock = kernel::clock(kernel::REAL_TIME);
        rank = Rank {
            family: Family::Own,
            rank: 0,
            size: 1,
            id: spread(clock << 22 ^ u64::from(header.pid)),
        };
    }
    header.rank = rank.rank;
    header.ranks = rank.size;
    let mut text = [0; 256];
    let mut out = Out::new(&mut text);
    keep(&mut header.id, out.hex(rank.id).text());
    out.rewind(0);
    job::write_id(&vars, &mut out);
    keep(&mut header.job, out.text());
    out.rewind(0);
    job::write_partition(&vars, &mut out);
    keep(&mut header.part, out.text());
    keep(&mut header.step, job::step(&vars, rank.family).unwrap_or_default());
    out.rewind(0);
    executable(&mut out, &mut room.file);
    keep(&mut header.exe, out.text());
    out.rewind(0);
    for var in [Var::Logname, Var::User] {
        if out.is_empty() {
            out.put(vars.text(var));
        }
    }
    if out.is_empty() {
        out.byte(b'#').dec(header.uid.into());
    }
    keep(&mut header.user, out.text());
    let mut uname = [0; kernel::UTSNAME];
    kernel::uname(&mut uname);
    // The second of its texts: the node's name.
    let host = uname.get(65..).unwrap_or_default();
    keep(&mut header.host, topas_mpi_profile::lines::text(host));
    worlds(&vars, rank.family, &mut room.file, header);
    switches::note(header);
    if let Some(kept) = kept() {
        kept.batch = job::mode(&vars) == Mode::Batch;
        kept.verbose = vars.is_yes(Var::TopasVerbose);
        kept.size = rank.size;
        keep(&mut kept.log, vars.text(Var::TopasLog));
        let out_file = sys::variable(c"TOPAS_MPI_OUT").unwrap_or_default();
        keep(&mut kept.pattern, if is_off(out_file) { b"" } else { out_file });
        if let [path @ .., 0] = kernel::directory(&mut room.file)
            && path.starts_with(b"/")
        {
            let mut out = Out::new(&mut room.path);
            keep(&mut kept.directory, out.put(path).byte(b'/').text());
        }
        let line = kernel::load(c"/proc/self/cmdline", &mut room.file);
        keep(&mut kept.command, topas_mpi_profile::lines::text(line));
    }
}

/// Notes the launcher's names of itself, of this world, and of that which may have started it. Only Open MPI tells
/// the last, as `NAME.RANK:TAG`, and only up to version 4 by the same name, which is a number.
fn worlds(vars: &Vars<'_>, family: Family, room: &mut [u8], header: &mut Header) {
    header.worlds.launcher = launcher(vars, family, room);
    // Names come again in other launches.
    let launch = Fnv::new().with(vars.text(Var::OmpiTransports)).with(b" ");
    let own = vars.text(Var::PmixNamespace);
    if own.is_empty() || !own.iter().all(u8::is_ascii_digit) {
        return;
    }
    header.worlds.name = launch.with(own).value();
    let mut port = Cursor::new(sys::variable(c"OMPI_PARENT_PORT").unwrap_or_default());
    let name = port.until(b'.');
    if !name.is_empty() {
        header.worlds.parent = launch.with(name).value();
        let digits = port.rest.iter().take_while(|byte| byte.is_ascii_digit());
        header.worlds.parent_rank = digits.fold(0, |rank: u32, digit| {
            rank.wrapping_mul(10).wrapping_add(u32::from(digit.wrapping_sub(b'0')))
        });
    }
}

/// [`topas_mpi_profile::layout::Worlds::launcher`]. Processes that are started have the environment of their launcher, so
/// what it is given there is the same in all worlds.
fn launcher(vars: &Vars<'_>, family: Family, room: &mut [u8]) -> u64 {
    let named = match family {
        // Open MPI 5 has the number of the world behind the name.
        Family::OpenMpi => match vars.text(Var::OmpiTransports) {
            b"" => Cursor::new(vars.text(Var::PmixNamespace)).until(b'@'),
            name => name,
        },
        Family::Pmi => match vars.text(Var::TopasLaunchId) {
            b"" => vars.text(Var::IntelUuid),
            name => name,
        },
        _ => b"",
    };
    if !named.is_empty() {
        return Fnv::new().with(named).value() | 1;
    }
    if family != Family::Pmi {
        return 0;
    }
    let mut proof = KernelProof { room: &mut *room, path: OnStack };
    let proxy = vars.number(Var::PmiFd).and_then(|socket| proof.peer(socket)).unwrap_or(0);
    if proxy == 0 {
        return 0;
    }
    // Up to version 4 of MPICH, hydra has further proxies for processes that are started, each with a port of its own.
    if sys::variable(c"PMI_SPAWNED").is_some() {
        let port = first_proxy::port(proxy, room);
        if port != 0 {
            return spread(port) & !1;
        }
    }
    let mut proof = KernelProof { room, path: OnStack };
    match proof.control_port(proxy) {
        0 => spread(proxy.into()) & !1,
        port => spread(port) & !1,
    }
}
