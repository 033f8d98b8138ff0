//! Structures of the layout from the bytes of a file: field by field, by the offsets that
//! whoever maps the file has them at.

use std::mem::{offset_of, size_of};

use topas_mpi_profile::layout::now::{NamedRank, NamedRanks, NowLine};
use topas_mpi_profile::layout::{
    Away, Beside, Block, Bridge, Bridged, Bridges, CallPath, Communicator, Header, Moment,
    Outsider, Partner, Partners, PathFunction, PathModule, PathTable, Peer, Row, Traffic, WaitPeer,
    WaitRow, WaitTicks, Waiting, Waits, WorldStart, Worlds,
};
use topas_trace::RingHead;

/// Something that stands in the file.
pub(super) trait Decode {
    /// From its bytes; what is missing of them is zero.
    fn decode(bytes: &[u8]) -> Self;
}

macro_rules! integers {
    ($($type:ty)*) => {
        $(impl Decode for $type {
            fn decode(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(0, |bytes| <$type>::from_ne_bytes(*bytes))
            }
        })*
    };
}

integers!(u8 u16 u32 u64 i32);

impl<T: Decode, const N: usize> Decode for [T; N] {
    fn decode(bytes: &[u8]) -> Self {
        std::array::from_fn(|place| at(bytes, place * size_of::<T>()))
    }
}

/// What stands at an offset.
fn at<T: Decode>(bytes: &[u8], offset: usize) -> T {
    T::decode(bytes.get(offset..).unwrap_or_default())
}

macro_rules! structures {
    ($($name:ident { $($field:ident)* })*) => {
        $(impl Decode for $name {
            fn decode(bytes: &[u8]) -> Self {
                $name { $($field: at(bytes, offset_of!($name, $field)),)* }
            }
        })*
    };
}

// A field that is missing here does not compile.
structures! {
    Moment { ticks monotonic realtime }
    Header {
        magic version functions table state code uid pid rank ranks level languages flags used
        blocks life first_block began initialized latest paused paused_since own_ticks
        call_cost before counters id host user exe job step part mpi switches subtotals
        comm_world missed waits size worlds out out_length order room
    }
    WorldStart { command ranks function path began ended }
    Worlds { name parent parent_rank spawned launcher count lost started }
    Communicator { name size maker kind made }
    Row { calls ticks longest count sends sent receives received }
    Beside { sent received flags }
    Waiting { calls ticks }
    NowLine { inside peer comm since path group }
    NamedRank { rank reserved key number }
    NamedRanks { count are_all ranks }
    Peer { sends sent receives received }
    Traffic { calls ticks peer }
    Away { left from back path }
    PathModule { base print build_id_length build_id name }
    PathFunction { print file name }
    CallPath { function count end reserved calls ticks sent received waits unknown frames }
    PathTable { count modules depth inside number function_count functions reserved module path }
    WaitTicks { calls ticks }
    WaitRow { late late_receiver collective elsewhere unsure below }
    WaitPeer { late late_receiver collective between slept }
    Waits { board peers world partners bridges used of rows }
    Bridge { number began ended local remote root started near reserved }
    Bridged { number rank bridge }
    Outsider { id rank parent waits }
    Bridges { count bridged outside reserved bridges communicators outsiders }
    Partner { path peer_path peer late late_receiver collective on_time slack }
    RingHead { magic written capacity made thread begun before lost blocks path }
    Partners { count reserved partner }
    Block {
        tid tag next peers histograms now outside counted paths log away reserved waiting rows
        beside traffic sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_mpi_profile::layout::{BINS, FUNCTIONS, HISTOGRAMS};

    /// Every eight bytes hold their number, so each field tells where it stands.
    #[test]
    fn fields_stand_where_the_layout_has_them() {
        let bytes: Vec<u8> =
            (0..size_of::<Block>() as u64 / 8).flat_map(u64::to_ne_bytes).collect();
        let block = Block::decode(&bytes);
        assert_eq!(block.next, 1);
        let last = size_of::<Block>() as u64 / 8 - 1;
        assert_eq!(block.sizes[HISTOGRAMS - 1][BINS - 1], last);
        let rows = offset_of!(Block, rows) as u64 / 8;
        assert_eq!(block.rows[FUNCTIONS - 1].received, rows + 8 * FUNCTIONS as u64 - 1);
        let header = Header::decode(&bytes);
        assert_eq!(header.began.ticks, offset_of!(Header, began) as u64 / 8);
        assert_eq!(header.call_cost, offset_of!(Header, call_cost) as u64 / 8);
    }
}
