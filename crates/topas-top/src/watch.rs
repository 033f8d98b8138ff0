//! Readings of the mapped files, one after the other, and what lies between two of them.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use topas_config::{Conf, Environment, Paths, command_line, spool_directories};
use topas_findings::{BottleneckSearch, Rules, mpi_facts};
use topas_mpi_data::{
    LastSign, LaunchPath, LaunchPaths, MpiProfile, Origin, RoutineNumber, SHORTEST_STANDSTILL,
    own_uid, processors_of, read_spool, time_of_callers,
};
use topas_render::mpi_views::{
    CallPlaces, PathViews, Views, call_places, charged_rank, shared_processors, where_waited,
};
use topas_render::why::{add_wait_places, lead};
use topas_symbols::Symbols;

use crate::args::TopArgs;
use crate::board::{Board, hides_costs};
use crate::hosts::Hosts;
use crate::snapshot;
use crate::{TOOL, exit};

/// Readings that are kept of each rank.
pub const HISTORY: usize = 60;

/// What is known of a rank from readings before.
#[derive(Clone, Debug, Default)]
pub struct RankHistory {
    /// ns of wall clock and in MPI at the last reading
    pub last: (u128, u128),
    /// Shares of the time in MPI between readings, 0 to 1, the newest last
    pub shares: Vec<f64>,
}

/// Watches the launches of this user on this node.
pub struct Watch {
    directories: Vec<PathBuf>,
    launch: Option<String>,
    /// How many launches behind the first the shown one is
    skip: usize,
    histories: HashMap<(Box<[u8]>, u32), RankHistory>,
    board: Option<Board>,
    rules: Rules,
    /// What was found at the reading before, with the id of the launch
    found: Option<(Box<[u8]>, BottleneckSearch)>,
    /// Executables and libraries that were opened
    symbols: Symbols,
    /// Readers on other nodes
    hosts: Option<Hosts>,
    /// What there is to say of these
    complaints: Vec<String>,
}

impl Watch {
    /// Nothing was read yet.
    pub fn new(args: &TopArgs, env: &Environment) -> Watch {
        let argv0 = command_line().into_iter().next().unwrap_or_default();
        let conf = Conf::load(Paths::of_this_program(&argv0, env).as_ref(), env);
        let directories =
            if args.spool.is_empty() { spool_directories(&conf, env) } else { args.spool.clone() };
        // What is wrong with rules of the center is told by topasview.
        let (rules, _) = Rules::with(&conf.site_rules().texts);
        Watch {
            directories,
            launch: args.launch.clone(),
            skip: 0,
            histories: HashMap::new(),
            board: None,
            rules,
            found: None,
            symbols: Symbols::default(),
            hosts: None,
            complaints: Vec::new(),
        }
    }

    /// Starts readers on other nodes, if any were named, and waits for what they tell first. The Err
    /// is the exit code, all has been said.
    pub fn start_readers(&mut self, args: &TopArgs) -> Result<(), u8> {
        if !args.hosts.is_empty() {
            let hosts = Hosts::start(args)?;
            hosts.first_reading();
            self.hosts = Some(hosts);
        }
        Ok(())
    }

    /// What is wrong with readers on other nodes, and was not told yet.
    pub fn take_complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }

    /// What runs on this node. The Err is the exit code, all has been said.
    pub fn here(&self) -> Result<Vec<MpiProfile>, u8> {
        let mut profiles: Vec<MpiProfile> = Vec::new();
        for directory in &self.directories {
            match read_spool(directory, Some(own_uid())) {
                // A file that cannot be read is another tool's to tell: it may come to be now.
                Ok(read) => profiles.extend(read.profiles),
                Err(cause) => {
                    let what = format!("cannot list {}", directory.display());
                    TOOL.error(&what, Some(&cause), "check the directory and its permissions");
                    return Err(exit::FAILED);
                }
            }
        }
        profiles.retain(|profile| profile.origin == Origin::Live);
        Ok(profiles)
    }

    /// Reads all files. The Err is the exit code, all has been said.
    pub fn look(&mut self) -> Result<(), u8> {
        let mut profiles = self.here()?;
        let mut told = Vec::new();
        if let Some(hosts) = &mut self.hosts {
            told = hosts.ranks();
            profiles = snapshot::launches(profiles, told.iter().cloned());
            self.complaints.extend(hosts.complaints());
        }
        if let Some(id) = &self.launch {
            profiles.retain(|profile| profile.facts.id.starts_with(id.as_bytes()));
        }
        profiles.sort_by(|a, b| {
            (b.facts.epoch.cmp(&a.facts.epoch)).then_with(|| a.facts.id.cmp(&b.facts.id))
        });
        let launches = profiles.len();
        let skip = self.skip.checked_rem(launches).unwrap_or(0);
        self.board = match profiles.into_iter().nth(skip) {
            Some(profile) => {
                let shares = self.shares(&profile);
                let search = self.search(&profile);
                let mut places = self.places(&profile);
                places.extend(snapshot::places(&profile, &told));
                Some(Board::new(profile, shares, launches, search, places))
            }
            None => None,
        };
        Ok(())
    }

    /// What costs time in a launch so far. What was told at the reading before stays while it is about
    /// as much.
    fn search(&mut self, profile: &MpiProfile) -> BottleneckSearch {
        let id = &profile.facts.id;
        let mut facts = mpi_facts(profile);
        let mut charged = charged_rank(profile, None);
        if let Some(paths) = LaunchPaths::of(profile) {
            let mut views_of = |rank: u32| {
                let mut paths = paths.clone();
                let waits = |path: &LaunchPath| path.partners.iter().any(|of| of.peer == rank);
                let its: Vec<Option<u64>> = paths
                    .paths
                    .iter()
                    .filter(|path| waits(path))
                    .flat_map(|path| path.partners.iter().map(|of| of.peer_path))
                    .collect();
                paths.paths.retain(|path| waits(path) || its.contains(&Some(path.id)));
                let (source, _) = self.symbols.of(&paths);
                PathViews { paths, source, by_rank: false, nameless: Vec::new() }
            };
            if let Some(rank) = charged.as_ref().map(|charged| charged.rank) {
                charged = charged_rank(profile, Some(&views_of(rank)));
            }
            add_wait_places(&mut facts, charged.as_ref(), |rank, kind| {
                where_waited(&views_of(rank), profile, rank, kind)
            });
        }
        let before = self.found.as_ref().filter(|(of, _)| of == id).map(|(_, search)| search);
        let mut search = self.rules.search(&facts, before);
        charged.iter().for_each(|charged| self.rules.lead(&mut search, &lead(charged, &facts)));
        if hides_costs(profile) {
            search.withhold();
        } else if shared_processors(profile, Views::host(profile).and_then(processors_of)).is_some()
        {
            search.doubt();
        }
        self.found = Some((id.clone(), search.clone()));
        search
    }

    /// Where long calls were made that go on, and the last ones that asked for something, of ranks whose call paths are counted
    /// on this node.
    pub fn places(&mut self, profile: &MpiProfile) -> CallPlaces {
        let is_long = |time: Option<u64>| time.is_some_and(|time| time >= SHORTEST_STANDSTILL);
        let mut long = profile.inside.iter().filter(|(_, inside)| is_long(inside.time)).peekable();
        if long.peek().is_none() {
            return CallPlaces::new();
        }
        let Some(mut paths) = LaunchPaths::of(profile) else { return CallPlaces::new() };
        let id = |rank: u32, path: Option<u32>| Some(paths.numbered(rank, path?)?.id);
        let asks = |last: &LastSign| last.routine.is_some_and(RoutineNumber::asks);
        let asked = (profile.ranks.iter())
            .filter_map(|rank| Some((rank.rank, rank.last.filter(asks)?.path)));
        let long = long.map(|(rank, inside)| (*rank, inside.path));
        let wanted: HashSet<u64> =
            long.chain(asked).filter_map(|(rank, path)| id(rank, path)).collect();
        paths.paths.retain(|path| wanted.contains(&path.id));
        let (source, _) = self.symbols.of(&paths);
        let views = PathViews { paths, source, by_rank: false, nameless: Vec::new() };
        call_places(profile, &views)
    }

    /// Shares of time in MPI by rank, since the reading before; since the beginning if there was
    /// none.
    fn shares(&mut self, profile: &MpiProfile) -> HashMap<u32, RankHistory> {
        let mut all = HashMap::new();
        for rank in &profile.ranks {
            let key = (profile.facts.id.clone(), rank.rank);
            let history = self.histories.entry(key).or_default();
            let now = (time_of_callers(&rank.sums), rank.sums.mpi);
            let passed = now.0.saturating_sub(history.last.0);
            let inside = now.1.saturating_sub(history.last.1);
            if passed > 0 {
                history.shares.push((inside as f64 / passed as f64).min(1.0));
            }
            let excess = history.shares.len().saturating_sub(HISTORY);
            history.shares.drain(..excess);
            history.last = now;
            all.insert(rank.rank, history.clone());
        }
        all
    }

    /// The next launch is shown from the next reading on.
    pub fn next_launch(&mut self) {
        self.skip += 1;
    }

    /// What the last reading found.
    pub fn board(&self) -> Option<&Board> {
        self.board.as_ref()
    }

    /// Says that no program runs.
    pub fn nothing(&self) {
        let names: Vec<String> =
            self.directories.iter().map(|dir| dir.display().to_string()).collect();
        let what = match &self.launch {
            Some(id) => format!("no launch of yours runs whose id begins with {id}"),
            None => format!("no program of yours runs with a profile in {}", names.join(" or ")),
        };
        TOOL.error(&what, None, "run it by topas-run --mpi, or with TOPAS_MPI=yes");
    }
}
