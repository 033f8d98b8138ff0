//! The walker as programs of the tests call it, in C.

mod sys;
