//! `cargo xtask demo`
pub fn demo() -> anyhow::Result<()> {
    Ok(())
}
