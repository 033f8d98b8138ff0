//! Made from `topas-mpi-table` by `cargo xtask codegen`.

#[rustfmt::skip]
pub mod name;
#[rustfmt::skip]
pub mod number;
#[rustfmt::skip]
pub mod table;
