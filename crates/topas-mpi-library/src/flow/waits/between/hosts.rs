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
}

impl Hosts {
    /// All ranks tell each other where they are.
    pub fn know(ranks: &Ranks, header: &Header) -> Option<Hosts> {
        let count = ranks.size as usize;
        let [own] = room::<u64>(1)? else { return None };
        let all = room::<u64>(count)?;
        *own = host(header);
        // SAFETY: one number, and as many as there are ranks, which stay for good.
        let told = unsafe {
            ranks.all(core::ptr::from_ref(own).cast(), 8, all.as_mut_ptr().cast(), false)
        };
        if !told {
            return None;
        }
        // Hosts by where their number leads to.
        let places = room::<u32>((2 * count).next_power_of_two())?;
        let (of, leaders) = (room::<u32>(count)?, room::<u32>(count)?);
        let mut hosts = 0;
        for (rank, (host, known)) in all.iter().zip(of.iter_mut()).enumerate() {
            for step in 0..places.len() {
                let at = (*host as usize).wrapping_add(step) & (places.len() - 1);
                let place = places.get_mut(at)?;
                if *place == 0 {
                    *leaders.get_mut(hosts)? = rank as u32;
                    hosts += 1;
                    *place = hosts as u32;
                }
                let leader = leaders.get(*place as usize - 1).copied()?;
                if all.get(leader as usize) == Some(host) {
                    *known = *place - 1;
                    break;
                }
            }
        }
        let own = of.get(ranks.rank as usize).copied()?;
        let leads = leaders.get(own as usize) == Some(&ranks.rank);
        Some(Hosts { count: hosts, of, leaders, own, leads })
    }

    /// The host of a rank.
    pub fn of(&self, rank: u32) -> u32 {
        self.of.get(rank as usize).copied().unwrap_or(0)
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
