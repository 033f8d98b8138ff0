//! Which ranks share a clock.

use topas_mpi_profile::layout::{Header, flag};
use topas_mpi_profile::lines::text;
use topas_mpi_waits::key::mix;
use topas_node::sys as kernel;

use super::room;
use crate::ranks::Ranks;

/// The hosts of a run, in the order of their first ranks.
pub struct Hosts {
    /// How many there are
    pub count: usize,
    /// The host of each rank
    of: &'static [u32],
    /// The first rank of each
    leaders: &'static [u32],
    /// The host of this rank
    pub own: u32,
    /// This rank is the first of its host
    pub leads: bool,
    /// What each rank told
    told: &'static [Told],
}

/// What each rank tells all others.
#[derive(Clone, Copy)]
#[repr(C)]
struct Told {
    /// Tells its clock from others
    host: u64,
    /// When it came, by its own clock
    came: u64,
    /// The call path by which it came
    path: u64,
}

impl Hosts {
    /// All ranks tell each other where they are, and when and by which call path they came.
    pub fn know(ranks: &Ranks, header: &Header, came: u64, path: u16) -> Option<Hosts> {
        let count = ranks.size as usize;
        let [own] = room::<Told>(1)? else { return None };
        let told = room::<Told>(count)?;
        *own = Told { host: host(header), came, path: path.into() };
        let at = told.as_mut_ptr().cast();
        // SAFETY: numbers of one, and of as many as there are ranks, which stay for good.
        if !unsafe { ranks.all(core::ptr::from_ref(own).cast(), size_of::<Told>(), at, false) } {
            return None;
        }
        // Hosts by where their number leads to.
        let places = room::<u32>((2 * count).next_power_of_two())?;
        let (of, leaders) = (room::<u32>(count)?, room::<u32>(count)?);
        let mut hosts = 0;
        for (rank, (Told { host, .. }, known)) in told.iter().zip(of.iter_mut()).enumerate() {
            for step in 0..places.len() {
                let at = (*host as usize).wrapping_add(step) & (places.len() - 1);
                let place = places.get_mut(at)?;
                if *place == 0 {
                    *leaders.get_mut(hosts)? = rank as u32;
                    hosts += 1;
                    *place = hosts as u32;
                }
                let leader = leaders.get(*place as usize - 1).copied()?;
                if told.get(leader as usize).is_some_and(|leader| leader.host == *host) {
                    *known = *place - 1;
                    break;
                }
            }
        }
        let own = of.get(ranks.rank as usize).copied()?;
        let leads = leaders.get(own as usize) == Some(&ranks.rank);
        Some(Hosts { count: hosts, of, leaders, own, leads, told })
    }

    /// The host of a rank.
    pub fn of(&self, rank: u32) -> u32 {
        self.of.get(rank as usize).copied().unwrap_or(0)
    }

    /// When a rank came, by its own clock, and by which of its call paths; 0 if these are not counted.
    pub fn arrival(&self, rank: u32) -> Option<(u64, u16)> {
        self.told.get(rank as usize).map(|told| (told.came, told.path as u16))
    }

    /// The first rank of a host.
    pub fn leader(&self, host: u32) -> u32 {
        self.leaders.get(host as usize).copied().unwrap_or(0)
    }
}

/// Tells the clock that a rank reads from others: by its node, and which of its clocks that is.
fn host(header: &Header) -> u64 {
    let mut room = [0; 64];
    let boot = kernel::load(c"/proc/sys/kernel/random/boot_id", &mut room);
    let name = text(&header.host).iter().chain(boot);
    name.fold(header.flags & flag::CLOCK, |hash, byte| mix(hash, (*byte).into()))
}
