//! Loss rules: which packets of a transfer are dropped.
