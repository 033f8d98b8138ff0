//! Collectives: whom a rank has to wait for.

/// Who depends on whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Shape {
    /// All wait for the last
    All,
    /// All wait for the root
    FromRoot,
    /// The root waits for the last of the others
    ToRoot,
    /// Each waits for the last of those of lower rank
    FromLower,
}

impl Shape {
    /// The ranks of the communicator for which a rank waits: from the first to less than the
    /// second.
    pub const fn awaited(self, rank: u32, root: u32, size: u32) -> (u32, u32) {
        match self {
            Shape::All => (0, size),
            Shape::FromRoot if rank == root => (0, 0),
            Shape::FromRoot => (root, root + 1),
            Shape::ToRoot if rank == root => (0, size),
            Shape::ToRoot => (0, 0),
            Shape::FromLower => (0, rank),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_depends_on_others_waits_for_them() {
        assert_eq!(Shape::All.awaited(2, 0, 4), (0, 4));
        assert_eq!(Shape::FromRoot.awaited(2, 1, 4), (1, 2));
        assert_eq!(Shape::FromRoot.awaited(1, 1, 4), (0, 0));
        assert_eq!(Shape::ToRoot.awaited(1, 1, 4), (0, 4));
        assert_eq!(Shape::ToRoot.awaited(0, 1, 4), (0, 0));
        assert_eq!(Shape::FromLower.awaited(3, 0, 4), (0, 3));
    }
}
