//! Names of the error numbers a plan can give and a report can show.

macro_rules! errors {
    ($($name:ident)*) => {
        const ERRORS: &[(&str, i32)] = &[$((stringify!($name), libc::$name)),*];
    };
}

errors! {
    E2BIG EACCES EAGAIN EBADF EBUSY EFAULT EINTR EINVAL EIO EMFILE ENFILE ENODEV ENOENT ENOMEM
    ENOSPC ENOSYS ENXIO EOPNOTSUPP EPERM ESRCH
}

/// The number of an error such as `ENOENT`.
pub(super) fn number(name: &str) -> Option<i32> {
    ERRORS.iter().find(|(known, _)| *known == name).map(|&(_, number)| number)
}

/// The name of an error number, or the number where it has none here.
pub(super) fn name(number: i32) -> String {
    ERRORS
        .iter()
        .find(|&&(_, known)| known == number)
        .map_or_else(|| format!("errno {number}"), |(name, _)| (*name).to_owned())
}
