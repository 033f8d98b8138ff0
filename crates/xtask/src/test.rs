//! `cargo xtask test`
#[derive(clap::Args)]
pub struct Options {}
pub fn test(_: &Options) -> anyhow::Result<()> {
    Ok(())
}
