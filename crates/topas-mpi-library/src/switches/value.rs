//! Which values of switches are told: a record goes to the center, and a value may be a path, a
//! host or a name of somebody.

/// Longest value that is looked at, in B.
const LONGEST: usize = 512;

/// What stands between the words of a value.
const BETWEEN: &[u8] = b",;:^+-_ |@=&*()";

/// Kinds of devices, which have a number of at most three digits behind them. Not `n` or `node`:
/// hosts are called so.
const DEVICES: &[u8] = b"\
mlx mlx4 mlx5 hfi hfi1 eth ib en eno ens enp hsn lo bnxt irdma qib cxi gpu nic";

/// Words that switches of the MPIs and of the libraries below have as values, or that such values
/// are made of. In upper case they are the same.
const KNOWN: &[u8] = b"\
on off yes no true false enable enabled disable disabled auto automatic default none all any null \
never always try force y n t f inf infinity unlimited \
fatal error err warn warning info debug diag trace req data async func poll print verbose quiet \
ob1 cm mtl btl pml bml cml self sm vader smcuda tcp udp openib ofi ucx ugni uct usnic psm psm2 psm3 portals4 pt2pt \
basic libnbc tuned hcoll ucc han adapt inter sync monitoring accelerator rdma pt pt2pt coll osc io \
topo treematch romio romio321 romio341 ompio ompi posix mmap sysv fbtl fcoll fs sharedfp vulcan \
dynamic static two phase individual gen gen2 lockedfile addproc shared ufs lustre gpfs beegfs nfs \
pvfs2 orangefs xfs panfs testfs cma knem xpmem emulated vmsplice \
rsh ssh slurm pbs pbsdsh tm lsf ll sge fork persist jmi llspawn blaunch alps pals flux hydra pmi \
pmi2 pmix simple cray isolated hash ds21 gds native oob ess plm rmaps odls state errmgr grpcomm \
hwthread hwt core socket package numa node board slot cache l1cache l2cache l3cache l1 l2 l3 \
thread ppr seq mindist pe span nooverload oversubscribe nooversubscribe overload if supported \
by bind map rank cpu cpus list unit omp platform range compact scatter spread bunch balanced \
hybrid cell allcores cache1 cache2 cache3 block cyclic round robin user gpu nic first last max min \
rc dc ud verbs mlx x v ib roce shm mm cuda copy ipc gdr rocm ze level zero sockcm rdmacm cudaipc \
sockets efa opx cxi gni rxm rxd ofi tcpofi lnx net hook dapl tmi ofa fabric mxm yalla ikrit fca \
mlx5 re hsi \
skx clx icx spr emr gnr knl knc bdw hsw ivb snb zen naples rome milan genoa \
ring tree binary binomial recursive doubling multiplying halving kary knomial nary scan pairwise \
bruck linear gather scatterv split segmented pipelined pipeline chain flat multi level smp device \
host inorder ordered nb blocking nonblocking mpir release acquire brucks intra inter dissemination \
message size rabenseifner reduce bcast allreduce allgather alltoall barrier shmem persistent \
lazy eager rendezvous rndv rget rput get put am zcopy bcopy short stream queue direct indirect \
single multiple funneled serialized percoll pt2 collectives preferred required strict relaxed \
optimistic pessimistic local global system automatic thp huge hugetlb hugepages regular odp \
blocksched busy yield sched spin wait event polling mutex spinlock lockfree vci vcis comm \
kb mb gb tb k m g b kib mib gib us ms ns s sec min h hz ppn np";

/// Whether a value is made of numbers and known words alone.
pub fn is_told(value: &[u8]) -> bool {
    value.len() <= LONGEST
        && value.split(|byte| BETWEEN.contains(byte)).all(|word| is_number(word) || is_known(word))
}

/// Decimal with a fraction or a unit, or hexadecimal; nothing is a number, too.
fn is_number(word: &[u8]) -> bool {
    /// More digits than a word of 64 bits has are no number of a switch.
    const DIGITS: usize = 20;
    if let [b'0', b'x' | b'X', digits @ ..] = word {
        return digits.len() <= DIGITS && digits.iter().all(u8::is_ascii_hexdigit);
    }
    let whole = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = word.get(whole..).unwrap_or_default();
    let rest = match rest {
        [b'.', fraction @ ..] if whole > 0 => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            fraction.get(digits..).unwrap_or_default()
        }
        rest => rest,
    };
    let unit = match rest {
        [] | [b'%'] => true,
        unit => whole > 0 && unit.len() <= 3 && is_listed(KNOWN, unit),
    };
    unit && word.len() <= DIGITS
}

fn is_known(word: &[u8]) -> bool {
    let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let device = word.get(..word.len() - digits).unwrap_or_default();
    is_listed(KNOWN, word) || digits <= 3 && is_listed(DEVICES, device)
}

fn is_listed(list: &[u8], word: &[u8]) -> bool {
    list.split(|byte| *byte == b' ').any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_switches_and_components_are_told() {
        for value in [
            "",
            "1",
            "0",
            "yes",
            "Off",
            "4096",
            "64K",
            "1.5",
            "90%",
            "0x1f",
            "-1",
            "+5",
            "1:8",
            "2,3,4",
            "self,vader,tcp",
            "^openib",
            "ob1",
            "ucx",
            "rc_x,sm,self",
            "rc_mlx5",
            "mlx5_0:1",
            "eth0,lo",
            "shm:ofi",
            "tcp;ofi_rxm",
            "ofi_rxm",
            "5;2:0-1024",
            "bunch",
            "hwthread",
            "ppr:2:socket",
            "recursive_doubling",
            "auto:scatter",
            "NUMA",
            "ROUND-ROBIN",
            "skx",
            "l3cache",
            "two_phase",
            "16MB",
            "10us",
            "romio321",
        ] {
            assert!(is_told(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn paths_hosts_and_names_are_not() {
        for value in [
            "/home/anna/tuning.conf",
            "home/anna",
            "~/x",
            "./x",
            "../x",
            "anna",
            "anna,self",
            "self,anna",
            "n001",
            "node17",
            "node17.cluster.example",
            "10.0.0.1",
            "10.0.0.0/8",
            "fe80::1",
            "a.conf",
            "file.txt",
            "https://x",
            "project-phoenix",
            "anna@n1",
            "$HOME",
            "%h",
            "1a2b3c",
            "004917212345678901234",
            "core.12ab",
            "eth0.anna",
            "self,vader/../x",
            "k1234567",
            "\u{e9}",
            "0xanna",
        ] {
            assert!(!is_told(value.as_bytes()), "{value}");
        }
        assert!(!is_told(&[b'1'; LONGEST + 1]));
    }

    proptest::proptest! {
        /// Whatever is told has neither a slash nor a point that is not within a number.
        #[test]
        fn no_path_is_told(value in "[a-z0-9/._:,~-]{0,24}") {
            let told = is_told(value.as_bytes());
            proptest::prop_assert!(!told || !value.contains(['/', '~']), "{}", value);
        }
    }
}
