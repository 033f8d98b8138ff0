//! Every command that a document shows is run, and every option of a tool is in its manual page.

mod documents;
mod manual;
mod options;
mod room;
