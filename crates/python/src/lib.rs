//! Python bindings, nothing else.
