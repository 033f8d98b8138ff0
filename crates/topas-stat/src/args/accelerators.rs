//! Runs that used an accelerator.

use clap::Args;

/// Whether such runs count where rates of the processor are shown.
#[derive(Args, Debug)]
#[command(next_help_heading = "Selection")]
pub struct AcceleratorArgs {
    /// Let runs that used an accelerator (see the field gpu) count in the rates of the processor:
    /// mflops, mintops, mloads, mstores, l1_per_op, l1_rate and ipc. Without this option they are
    /// kept out of these, and their number is told
    #[arg(long)]
    pub with_accelerators: bool,
}
