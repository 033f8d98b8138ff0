//! Profiles of MPI calls: of lines in logs and in files of users, and of the mapped files of
//! ranks, which run or have ended without a word.
//!
//! All times are integers of nanoseconds and all amounts are exact, so that a sum does not
//! depend on the order of ranks. Logs are opened by `topas-data`, which hands on the lines of
//! profiles in them; the mapped files are opened here.
#![deny(unsafe_code)]

mod boards;
mod calibration;
mod collect;
mod decode;
mod delay;
mod efficiency;
mod held_up;
mod identity;
mod last_sign;
mod last_to_end;
mod late_to_init;
mod launch_profile;
mod live;
mod logged_delays;
mod metrics;
mod node;
mod now;
mod open_messages;
mod outside;
mod partners;
mod paths;
mod posts;
mod process;
mod profile;
mod profile_sum;
mod rank;
mod read;
mod record;
mod replay;
mod routine;
mod scripts;
mod semaphore;
mod spool;
mod spool_paths;
mod standstill;
mod sums;
#[allow(unsafe_code, reason = "a system call")]
mod sys;
mod timeline;
mod trace;
mod trace_left;
mod waits;
mod worlds;

pub use calibration::{Calibration, CalibrationError, RoutineCost};
pub use collect::{Collection, LeftLaunch, collect, spool_owners};
pub use delay::{
    DelayBeginning, DelayOrigins, between_questions, compute_as_long, computed, computing,
    delay_origin, far_ahead, has_one_caller, is_longer, leading, on_the_way_to_ask,
    others_wait_longer, own_waits, seems_to_begin, take_turns, waited_for_itself,
    waited_for_others, waited_for_rank,
};
pub use efficiency::{
    CallersTime, Efficiency, NoEfficiency, Ratio, computes_unseen, efficiency, outside_of_rank,
    time_of_callers,
};
pub use held_up::HeldUp;
pub use last_sign::LastSign;
pub use last_to_end::{delayed_before_end, last_to_end};
pub use late_to_init::LateToInit;
pub use live::{SpoolReading, read_spool, read_spool_files};
pub use logged_delays::LoggedDelays;
pub use metrics::{METRICS, Metric, MetricUnit};
pub use node::{own_uid, processors_of};
pub use now::{CallNow, NowPeer, PeerSide, ThreadNow, threads_now};
pub use open_messages::{MessageEnd, OpenMessages};
pub use outside::OutsideRank;
pub use partners::{LaunchPartner, PathPartner, Slack};
pub use paths::{
    CallPathSums, LaunchPath, LaunchPaths, PathAmounts, PathEnding, PathFrame, PathModule,
    RankPaths, SourceFrame, SourceFrames,
};
pub use process::{is_running, parent_of};
pub use profile::{Ending, Level, MpiProfile, MpiRank, MpiRecordFacts, Origin, Subtotal};
pub use profile_sum::{CenterProfiles, LaunchTimes, ProfileSum};
pub use rank::{Inside, SpoolRank, read_rank};
pub use read::{Profiles, read_launch_profiles, read_profiles, read_profiles_in, read_profiles_of};
pub use replay::{
    AsMeasured, Network, PopFactors, Replay, ReplayTimes, ReplayedRank, ReplayedRoutine, replay,
};
pub use routine::{RoutineAmount, RoutineCalls, RoutineNumber, Routines};
pub use spool::{SPOOL_PREFIX, Spool, SpoolError, is_spool, spool_files};
pub use standstill::{
    Hang, LostRanks, Mismatch, SHORTEST_STANDSTILL, Standstill, asked_until_the_end,
    unmeasured_ranks,
};
pub use sums::{
    CLASSES, Communicator, Counter, MessageClass, MpiObjectKind, MpiSums, PeerSums, Sizes,
    TrafficSums, WAITED_NAMES, Waiting,
};
pub use timeline::{
    CallPlace, HostClocks, LongestDelay, MessageNumber, MessageNumbers, NamedState, NoteKind,
    SECOND_RANK, StateSum, TIME_CLASSES, TailPart, TimeClass, Timeline, TimelineBlock,
    TimelineNote, TimelineObject, TimelineProcess, TimelineRow, TimelineSlice, TimelineWorld,
    object_of_routine,
};
pub use topas_mpi_profile::lines::SpawnedWorld;
pub use topas_mpi_profile::sums::WaitSums;
pub use topas_trace::{CallArguments, CallEvent, UserState};
pub use trace::{
    FoundBlock, RankDamage, StreamedEvent, TraceCut, TraceFacts, TraceLog, TraceProcess,
    TraceSkips, TraceThread, absent_in_words, absent_ranks, data_file_beside, is_event_log,
    is_readable, launch_of, launches_in, launches_in_words, ranks_in_words,
    several_launches_in_words, trace_files, unfinished_ranks,
};
pub use waits::{AskedInVain, Blame, RoutineWaits, WaitFigures};
pub use worlds::{
    NumberedWorld, StartedWorld, WorldCall, WorldLink, first_world, world_links, worlds_started_by,
};
