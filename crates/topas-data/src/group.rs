//! The keys of groups, each stored once and known by a number.

use std::hash::Hasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// A key and its number.
type GroupEntry = (u64, Arc<[u8]>, u32);

/// The keys seen by any thread.
#[derive(Debug)]
pub(crate) struct Groups {
    known: Mutex<KnownGroup>,
    /// What all groups may take in B
    memory: u64,
    full: AtomicBool,
}

#[derive(Debug, Default)]
struct KnownGroup {
    /// Numbers of keys
    table: HashTable<u32>,
    keys: Vec<Arc<[u8]>>,
    /// What they take in B
    bytes: u64,
}

/// What a group takes until its row is shown besides its key, in B: the key here and in tables,
/// sums, label, row. Measured.
const GROUP: u64 = 500;

/// The keys that one thread has seen: only a key that is new to it takes the lock.
#[derive(Debug)]
pub(crate) struct SeenGroups {
    table: HashTable<GroupEntry>,
    /// Where each is looked for first, by its hash. Lines of few groups alternate, and this
    /// does so without a surprise for the processor.
    recent: Box<[Option<GroupEntry>; RECENT]>,
}

/// Places for groups seen last.
const RECENT: usize = 256;

/// Most groups that a thread remembers; of more there is no gain.
const SEEN: usize = 1 << 16;

impl Default for SeenGroups {
    fn default() -> Self {
        SeenGroups { table: HashTable::new(), recent: Box::new([const { None }; RECENT]) }
    }
}

impl Groups {
    /// No groups yet, which may take so much memory in B until their rows are shown.
    pub(crate) fn new(memory: u64) -> Self {
        Groups { known: Mutex::default(), memory, full: AtomicBool::new(false) }
    }

    /// Whether there are more groups than the memory is for. Numbers are given all the same.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// The number of a key; there are as many numbers as different keys.
    #[inline]
    pub(crate) fn number(&self, key: &[u8], seen: &mut SeenGroups) -> u32 {
        let hash = hash(key);
        let known = |(of, known, _): &GroupEntry| *of == hash && is_same(known, key);
        let SeenGroups { table, recent } = seen;
        let place = &mut recent[(hash % RECENT as u64) as usize];
        if let Some(entry) = place.as_ref().filter(|entry| known(entry)) {
            return entry.2;
        }
        let entry = match table.find(hash, known) {
            Some(entry) => entry.clone(),
            None => {
                let (key, number) = self.shared_number(hash, key);
                let entry = (hash, key, number);
                if table.len() == SEEN {
                    table.clear();
                }
                table.insert_unique(hash, entry.clone(), |(hash, ..)| *hash);
                entry
            }
        };
        place.insert(entry).2
    }

    #[cold]
    fn shared_number(&self, hash: u64, key: &[u8]) -> (Arc<[u8]>, u32) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let KnownGroup { table, keys, bytes } = &mut *known;
        if let Some(number) = table.find(hash, |number| *keys[*number as usize] == *key) {
            return (keys[*number as usize].clone(), *number);
        }
        *bytes += GROUP + 4 * key.len() as u64;
        if *bytes > self.memory {
            self.full.store(true, Ordering::Relaxed);
        }
        // Beyond 4,294,967,295 keys, which need some 400 GB of memory.
        let number = u32::try_from(keys.len()).expect("at most 4294967296 groups");
        let key: Arc<[u8]> = key.into();
        keys.push(key.clone());
        table.insert_unique(hash, number, |number| self::hash(&keys[*number as usize]));
        (key, number)
    }

    /// The keys by their numbers.
    pub(crate) fn into_keys(self) -> Vec<Arc<[u8]>> {
        self.known.into_inner().unwrap_or_else(PoisonError::into_inner).keys
    }
}

/// Keys are short: a call to compare them takes longer than that. The last eight bytes may overlap
/// those before.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match (a.last_chunk::<8>(), b.last_chunk()) {
        (Some(last), Some(other)) => last == other && a.as_chunks::<8>().0 == b.as_chunks().0,
        _ => a.iter().eq(b),
    }
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(key);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_have_one_number_in_all_threads() {
        let groups = Groups::new(u64::MAX);
        let numbers: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let thread = || {
                let mut seen = SeenGroups::default();
                let numbers =
                    (0..3000u32).map(|n| groups.number(&(n % 1000).to_le_bytes(), &mut seen));
                numbers.collect::<Vec<u32>>()
            };
            let threads = [scope.spawn(thread), scope.spawn(thread)];
            threads.map(|thread| thread.join().unwrap()).into()
        });
        assert_eq!(numbers[0], numbers[1]);
        assert_eq!(numbers[0][..1000], numbers[0][2000..]);
        assert!(!groups.is_full());
        let keys = groups.into_keys();
        assert_eq!(keys.len(), 1000);
        for (n, number) in (0..1000u32).zip(&numbers[0]) {
            assert_eq!(*keys[*number as usize], n.to_le_bytes());
        }
    }

    #[test]
    fn keys_of_any_length_are_told_apart() {
        let key: Vec<u8> = (0..40).collect();
        for len in 0..=key.len() {
            assert!(is_same(&key[..len], &key[..len]));
            for at in 0..len {
                let mut other = key[..len].to_vec();
                other[at] ^= 1;
                assert!(!is_same(&key[..len], &other), "{at} of {len}");
                assert!(!is_same(&key[..len], &key[..at]));
            }
        }
    }

    #[test]
    fn more_groups_than_memory_are_told_and_forgotten_ones_keep_their_numbers() {
        let groups = Groups::new(100 * (GROUP + 16));
        let mut seen = SeenGroups::default();
        for n in 0..100u32 {
            assert_eq!(groups.number(&n.to_le_bytes(), &mut seen), n);
        }
        assert!(!groups.is_full());
        for n in 100..3 * SEEN as u32 {
            groups.number(&n.to_le_bytes(), &mut seen);
        }
        assert!(groups.is_full());
        assert!(seen.table.len() <= SEEN);
        assert_eq!(groups.number(&7u32.to_le_bytes(), &mut seen), 7);
    }
}
