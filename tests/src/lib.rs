//! End-to-end tests: what the tests of this package stand on.
//!
//! A test takes the one installation of its process ([`site`]), builds a program with the drop-in
//! drivers of an MPI ([`mpi_installation`], [`installation`], [`build`]), runs it with a time limit
//! ([`running`]) and reads the lines it left ([`record`]). Programs carry what is expected of them
//! in their first lines ([`directives`]). Programs that end in many ways are compared with
//! themselves without the module ([`ending`], [`ways`]); many ranks end together ([`gang`]); what
//! they say is compared by its rates where it varies ([`rates`]). Small projects are built by their
//! own build systems ([`project`]), real ones by recipes ([`recipe`], [`sources`]). Programs that
//! call all of MPI are made from its table ([`mpi_program`]). File systems can be nearly full
//! ([`small_disk`]). Ranks that wait leave the processor to others ([`yielding`]). Programs that hang are looked at while they
//! run ([`started`]). A test that cannot run here says why ([`skip`]).

pub mod alone;
pub mod build;
pub mod directives;
pub mod documents;
pub mod ending;
pub mod expected;
pub mod gang;
pub mod installation;
pub mod launched_again;
pub mod mpi_installation;
pub mod mpi_program;
pub mod processor;
pub mod profile;
pub mod project;
pub mod pvm;
pub mod rates;
pub mod recipe;
pub mod record;
pub mod rsyslog;
pub mod running;
pub mod site;
pub mod skip;
pub mod slurm;
pub mod slurm_accounting;
pub mod slurm_jobs;
pub mod small_disk;
pub mod sources;
pub mod started;
pub mod waits;
pub mod ways;
pub mod yielding;
