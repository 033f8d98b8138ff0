//! Elements of tables by numbers that cannot lead out of them: the length is a power of two, and
//! bits above it do not count. So there is no code for a number that is too large.

/// The element of a table.
#[inline(always)]
pub fn element<T, const N: usize>(table: &[T; N], number: usize) -> &T {
    const { assert!(N.is_power_of_two()) };
    // SAFETY: less than the length.
    unsafe { table.get_unchecked(number & (N - 1)) }
}

/// The element of a table, to be changed.
#[inline(always)]
pub fn element_mut<T, const N: usize>(table: &mut [T; N], number: usize) -> &mut T {
    const { assert!(N.is_power_of_two()) };
    // SAFETY: less than the length.
    unsafe { table.get_unchecked_mut(number & (N - 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_too_large_stays_in_the_table() {
        let mut table = [1, 2, 3, 4];
        assert_eq!(*element(&table, 1), 2);
        assert_eq!(*element(&table, 6), 3);
        *element_mut(&mut table, 7) = 9;
        assert_eq!(table, [1, 2, 3, 9]);
    }
}
