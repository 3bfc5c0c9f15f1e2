//! The receiving half of a connection: what is there, what is offered, and when it is acknowledged.
