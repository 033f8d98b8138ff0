//! Versions of the MPI standard.

use core::fmt;

/// A version of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// `MPI_VERSION`
    pub major: u8,
    /// `MPI_SUBVERSION`
    pub minor: u8,
}

/// All versions that added or removed functions: 1.3 and 2.1 merged documents.
pub const VERSIONS: [Version; 10] = [
    Version::new(1, 0),
    Version::new(1, 1),
    Version::new(1, 2),
    Version::new(2, 0),
    Version::new(2, 2),
    Version::new(3, 0),
    Version::new(3, 1),
    Version::new(4, 0),
    Version::new(4, 1),
    Version::new(5, 0),
];

/// Later than any version there is.
pub const NEVER: Version = Version::new(u8::MAX, 0);

impl Version {
    /// Version `major.minor`.
    pub const fn new(major: u8, minor: u8) -> Version {
        Version { major, minor }
    }

    /// The version that a row writes as `4.1`. Anything else does not compile.
    pub(crate) const fn written(text: &str) -> Version {
        let text = text.as_bytes();
        assert!(text.len() == 3 && text[1] == b'.', "a version is written as 4.1");
        let (major, minor) = (text[0].wrapping_sub(b'0'), text[2].wrapping_sub(b'0'));
        assert!(major < 10 && minor < 10, "a version is written as 4.1");
        Version::new(major, minor)
    }

    /// The later of two.
    pub(crate) const fn later(self, other: Version) -> Version {
        let first = (self.major as u16) << 8 | self.minor as u16;
        let second = (other.major as u16) << 8 | other.minor as u16;
        if first >= second { self } else { other }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
