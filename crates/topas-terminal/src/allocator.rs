//! The allocator of static tools.
//!
//! The one of musl takes a lock and a call of the kernel where others do not, and `topas-stat` needed
//! more processor time with it than with glibc; mimalloc makes up for a part of that, and `sys` for
//! the rest. With glibc the tools keep its allocator.

/// Serves every tool that uses this crate.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
