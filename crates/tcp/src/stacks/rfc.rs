//! The standards, and nothing that one stack alone does: the defaults, and the extensions that the standards recommend.

use super::page::{state, Page};
use crate::settings::{CubicForm, Recovery};

pub(super) fn page() -> Page {
    let mut page = Page::new(
        "rfc",
        "the standards' core: RFC 5681, 6298, 6675, 2883 and 7323; no RACK, no probes",
    );
    state! { page;
        loss {
            limited_transmit = true, "RFC 3042, RFC 5681 §3.2";
            forward_retransmit = true, "RFC 6675 §4, NextSeg rule 3";
        }

        congestion {
            recovery = Recovery::Pipe, "RFC 6675 §5";
            cubic = CubicForm::Linux6, "assumption: RFC 9438 as its latest Linux has it, where it is asked for";
            byte_counting = true, "RFC 5681 §3.1, equation 2, as RFC 3465 recommends";
            slow_start_after_idle = true, "RFC 5681 §4.1";
        }

        segments {
            sack = true, "RFC 2018";
            dsack = true, "RFC 2883";
            timestamps = true, "RFC 7323 §3";
            window_scaling = true, "RFC 7323 §2";
        }
    }
    page
}
