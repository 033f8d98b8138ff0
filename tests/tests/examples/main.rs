//! Every command that a document shows is run.

mod documents;
mod manual;
mod room;
