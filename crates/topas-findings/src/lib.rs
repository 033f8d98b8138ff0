//! Findings: what is to be said of a run, from rules that a center can change.
//!
//! ```text
//! table of PEs, run of a log -> FactValues \
//! rules.d/*.conf -> Rules -------------> RuleFinding: what, where, how much, evidence,
//!                                        confidence, ruled out, next step
//! ```
//!
//! A rule is data: what it requires, the condition under which it fires, its sentences with
//! `{facts}` in them, and one next step. Conditions are the expressions of `--where`
//! ([`topas_data::Expression`]), over the [`facts`]. The rules of `etc/topas/rules.d` are
//! built in ([`Rules::builtin`]); texts of a center change them ([`Rules::with`]). A finding holds
//! its values as numbers with units: how they are written is a matter of `topas-render`.
#![forbid(unsafe_code)]

mod asked;
mod balance;
mod blamed;
mod doubt;
mod ending;
mod fact;
mod kernel;
mod last_rank;
mod late_to_init;
mod lead;
mod log_run;
mod margin;
mod mpi_run;
mod pe_table;
mod read;
mod rule;
mod saving;
mod search;
mod short_calls;
mod template;
mod timeline_run;
mod wait_names;
mod workless;

pub use ending::{ending_words, signal_name};
pub use fact::{Fact, FactSource, FactSpread, FactValue, FactValues, facts};
pub use lead::FindingLead;
pub use log_run::run_facts;
pub use margin::ToldBefore;
pub use mpi_run::{add_mpi_facts, mpi_facts};
pub use pe_table::{part_facts, pe_facts};
pub use read::RuleFault;
pub use rule::{Confidence, Rule, RuleFinding, RuleOutcome, Rules, Scope};
pub use search::{BottleneckSearch, ScantFinding};
pub use template::{FindingWord, FindingWords};
pub use timeline_run::{add_replay_facts, add_timeline_facts};
