//! Environment switches of the MPI: those that the user, the site or a module set, without those
//! that launchers set for their own ranks. Of values that may be paths or names only that there is
//! one.

mod value;

use topas_mpi_profile::layout::{Header, flag};

use crate::sys;

/// How names of switches begin: of Open MPI and its runtime, MPICH and what comes of it, Intel
/// MPI, MVAPICH; of the libraries below for networks and files.
const PREFIXES: [&[u8]; 19] = [
    b"OMPI_MCA_",
    b"PMIX_MCA_",
    b"PRTE_MCA_",
    b"MPICH_",
    b"MPIR_",
    b"I_MPI_",
    b"MV2_",
    b"MVP_",
    b"PSP_",
    b"UCX_",
    b"FI_",
    b"PSM2_",
    b"PSM3_",
    b"HCOLL_",
    b"SHARP_",
    b"MXM_",
    b"PAMI_",
    b"OFI_",
    b"ROMIO_",
];

/// What launchers set for their ranks, as seen in ranks of Open MPI 4.1 and 5.0, MPICH 4.0 to
/// 5.0 and Intel MPI 2021, and as MVAPICH2 2.3 documents it; with `*` at the end, all that begin
/// so.
const OF_LAUNCHERS: [&[u8]; 36] = [
    b"OMPI_MCA_PREFIXES",
    b"OMPI_MCA_cpu_type",
    b"OMPI_MCA_ess",
    b"OMPI_MCA_ess_*",
    b"OMPI_MCA_initial_wdir",
    b"OMPI_MCA_mpi_oversubscribe",
    b"OMPI_MCA_num_procs",
    b"OMPI_MCA_orte_app_num",
    b"OMPI_MCA_orte_bound_at_launch",
    b"OMPI_MCA_orte_ess_*",
    b"OMPI_MCA_orte_hnp_uri",
    b"OMPI_MCA_orte_jobfam_session_dir",
    b"OMPI_MCA_orte_launch",
    b"OMPI_MCA_orte_local_daemon_uri",
    b"OMPI_MCA_orte_num_nodes",
    b"OMPI_MCA_orte_precondition_transports",
    b"OMPI_MCA_orte_tmpdir_base",
    b"OMPI_MCA_orte_top_session_dir",
    b"OMPI_MCA_pmix",
    b"OMPI_MCA_shmem_RUNTIME_QUERY_hint",
    b"PMIX_MCA_mca_base_component_show_load_errors",
    b"PRTE_MCA_prte_tmpdir_base",
    b"MPICH_INTERFACE_HOSTNAME",
    b"MPIR_CVAR_CH3_INTERFACE_HOSTNAME",
    b"I_MPI_BIND_WIN_ALLOCATE",
    b"I_MPI_HYDRA_TOPOLIB",
    b"I_MPI_HYDRA_UUID",
    b"I_MPI_INFO_*",
    b"I_MPI_INTERNAL_*",
    b"I_MPI_PIN_INFO",
    b"I_MPI_PIN_MAPPING",
    b"I_MPI_RETURN_WIN_MEM_NUMA",
    b"I_MPI_ROOT",
    b"MV2_COMM_WORLD_*",
    b"MV2_NODE_ID",
    b"MV2_NUM_NODES_IN_JOB",
];

/// Whether an entry of the environment is a switch.
fn is_switch(entry: &[u8]) -> bool {
    let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
    let of_launcher = |known: &&[u8]| match known.strip_suffix(b"*") {
        Some(front) => name.starts_with(front),
        None => name == *known,
    };
    PREFIXES.iter().any(|prefix| name.len() > prefix.len() && name.starts_with(prefix))
        && !OF_LAUNCHERS.iter().any(of_launcher)
}

/// What is told of a switch: all of it, or its name without the equals sign.
fn told(entry: &[u8]) -> &[u8] {
    let mut halves = entry.splitn(2, |byte| *byte == b'=');
    let name = halves.next().unwrap_or_default();
    if value::is_told(halves.next().unwrap_or_default()) { entry } else { name }
}

/// Notes them, each with a NUL, as many as there is room for.
pub fn note(header: &mut Header) {
    let mut at = 0;
    for entry in sys::environment().filter(|entry| is_switch(entry)).map(told) {
        let room = header.switches.get_mut(at..).unwrap_or_default();
        // Two NULs behind the last.
        match room.get_mut(..entry.len() + 2) {
            Some(place) => {
                crate::workspace::keep(place, entry);
                at += entry.len() + 1;
            }
            None => header.flags |= flag::SWITCHES_LOST,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_may_be_a_path_or_a_name_is_not_told() {
        for (entry, expected) in [
            ("I_MPI_DEBUG=5", "I_MPI_DEBUG=5"),
            ("OMPI_MCA_btl=self,vader", "OMPI_MCA_btl=self,vader"),
            ("OMPI_MCA_btl=", "OMPI_MCA_btl="),
            ("I_MPI_TUNING_BIN=/home/anna/x", "I_MPI_TUNING_BIN"),
            ("OMPI_MCA_a=b=/c", "OMPI_MCA_a"),
        ] {
            assert_eq!(told(entry.as_bytes()), expected.as_bytes());
        }
    }

    #[test]
    fn those_of_users_are_told_from_those_of_launchers() {
        for (entry, expected) in [
            (&b"OMPI_MCA_btl=self,vader"[..], true),
            (b"OMPI_MCA_orte_base_help_aggregate=0", true),
            (b"MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE=100", true),
            (b"I_MPI_DEBUG=0", true),
            (b"UCX_TLS=tcp", true),
            (b"UCX_=", false),
            (b"OMPI_MCA_ess_base_vpid=0", false),
            (b"OMPI_MCA_pmix=^s1", false),
            (b"OMPI_COMM_WORLD_RANK=0", false),
            (b"I_MPI_INFO_NC=2", false),
            (b"MPIR_CVAR_CH3_INTERFACE_HOSTNAME=n", false),
            (b"PATH=/UCX_TLS", false),
        ] {
            assert_eq!(is_switch(entry), expected, "{}", String::from_utf8_lossy(entry));
        }
    }
}
