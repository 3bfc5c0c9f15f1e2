//! The vocabulary of TCP loss recovery.
