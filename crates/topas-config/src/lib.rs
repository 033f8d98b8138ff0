//! `topas.conf`, environment variables and installed paths.
//!
//! Every product crate learns about its surroundings here, and only here is the
//! process's environment, its command line or the place of its executable read. The
//! rest receives [`Environment`], [`Paths`] and [`Conf`] as values, so a test can make
//! them up. The compiler driver runs this code once per link: no dependency beyond
//! `topas-format`, nothing read before it is asked for.
#![forbid(unsafe_code)]

pub mod conf;
pub mod environment;
pub mod paths;
pub mod policy;
pub mod regular;
pub mod spool;

pub use conf::Conf;
pub use environment::{Environment, LinkWish, command_line, own_executable};
pub use paths::Paths;
pub use spool::spool_directories;
