//! What would be measured on this node, and why not.
//!
//! [`report::Report`] gathers what there is to know; [`text`] and [`json`] show it. Events
//! are those of `topas-format`, ranks those of `topas-launch`, settings those of
//! `topas-config`, so the doctor and the module cannot disagree; counting is done by
//! another reader (`perf-event2`) than the module's own, on loops whose instructions are
//! known one by one.
//!
//! Nothing is changed: log targets are opened and not written, files are not made.

pub mod args;
pub mod build;
pub mod cpu;
pub mod exit;
pub mod hint;
pub mod installation;
pub mod json;
pub mod launch;
pub mod metric;
pub mod names;
pub mod place;
pub mod policy;
mod procfs;
pub mod profile;
pub mod report;
pub mod selftest;
pub mod settings;
pub mod socket;
pub mod sys;
pub mod system;
pub mod text;
pub mod together;
pub mod variables;
