//! Stacks whose constants are a little off, so that who judges a corpus does not know them to the last digit.

use rexmit_tcp::settings::Settings;
use rexmit_time::{Duration, Stream};

use super::draw::between;
use super::look::Look;

/// The settings of a host: the stack's, its receive buffer one that is seen of it, its constants off by up to `share`
/// (0 to 1) of each, and its ticks one of those that it was built with.
///
/// What decides is left: the threshold of duplicate acknowledgements, gains and factors of the timeout, and which
/// mechanisms there are.
pub(super) fn perturbed(
    settings: &Settings,
    look: &Look,
    share: f64,
    stream: &mut Stream,
) -> Settings {
    let mut settings = settings.clone();
    // Network cards of the world gather pieces and cut segments: payload lies in pages (`select_size` with `sk_can_gso`).
    settings.segments.scatter_gather = true;
    settings.segments.linear_writes = false;
    if let Some(buffer) = pick(look.receive_buffers, stream) {
        settings.receiver.receive_buffer = [
            buffer.min(settings.receiver.receive_buffer[0]),
            buffer,
            buffer,
        ];
    }
    if share == 0.0 {
        return settings;
    }
    let ticks = pick(look.ticks, stream);
    // Most are built as they come.
    if stream.uniform() < 0.4 {
        settings.timers.hz = ticks.unwrap_or(settings.timers.hz);
    }
    let mut off = |value: Duration| {
        let factor = 1.0 + between(stream, -share, share);
        Duration::from_nanos((value.as_nanos() as f64 * factor) as i64)
    };
    settings.timers.min_rto = off(settings.timers.min_rto);
    settings.timers.rto_slop = off(settings.timers.rto_slop);
    let initial = off(settings.timers.initial_rto);
    settings.timers.fallback_rto = if settings.timers.fallback_rto == settings.timers.initial_rto {
        initial
    } else {
        off(settings.timers.fallback_rto)
    };
    settings.timers.initial_rto = initial;
    settings.receiver.delayed_ack_min = off(settings.receiver.delayed_ack_min);
    settings.receiver.delayed_ack_max =
        off(settings.receiver.delayed_ack_max).max(settings.receiver.delayed_ack_min);
    settings
}

fn pick(values: &[u32], stream: &mut Stream) -> Option<u32> {
    let index = stream.below(values.len() as u64) as usize;
    values.get(index).copied()
}

/// The names of the settings by which a stack of the table of UNC 2007 is told, and those that are off.
const TOLD: [&str; 14] = [
    "hz",
    "min_rto",
    "initial_rto",
    "fallback_rto",
    "rto_slop",
    "srtt_shift",
    "rttvar_shift",
    "srtt_factor",
    "rttvar_factor",
    "dupack_threshold",
    "delayed_ack_min",
    "delayed_ack_max",
    "sack",
    "timestamps",
];

/// What is told of a host's settings.
pub(super) fn told(stack: &str, settings: &Settings) -> serde_json::Value {
    let values = TOLD
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), settings.get(name)?.into())));
    let own = [("stack".to_owned(), stack.into())].into_iter();
    own.chain(values).collect::<serde_json::Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::stacks;
    use rexmit_time::Streams;

    use super::*;

    #[test]
    fn constants_are_off_by_no_more_than_asked_and_make_a_stack() {
        let mut moved = 0;
        for page in stacks::all() {
            for index in 0..200 {
                let mut stream = Streams::new(1).stream("perturb", index);
                let got = perturbed(&page.settings, Look::of(page.name), 0.05, &mut stream);
                assert_eq!(got.check(), Ok(()), "{}", page.name);
                assert_eq!(
                    got.loss.dupack_threshold,
                    page.settings.loss.dupack_threshold
                );
                let ratio =
                    got.timers.min_rto.as_secs_f64() / page.settings.timers.min_rto.as_secs_f64();
                assert!((0.9499..1.0501).contains(&ratio), "{ratio}");
                moved += u32::from((ratio - 1.0).abs() > 0.025);
            }
        }
        assert!(moved > 800, "{moved}");
    }

    #[test]
    fn without_a_share_all_is_as_it_was_but_the_window_and_the_card() {
        for page in stacks::all() {
            let mut stream = Streams::new(1).stream("perturb", 0);
            let mut got = perturbed(&page.settings, Look::of(page.name), 0.0, &mut stream);
            got.receiver.receive_buffer = page.settings.receiver.receive_buffer;
            got.segments.scatter_gather = page.settings.segments.scatter_gather;
            got.segments.linear_writes = page.settings.segments.linear_writes;
            assert_eq!(got, page.settings);
        }
    }

    #[test]
    fn what_is_told_names_settings_that_there_are() {
        let page = stacks::page("rfc").unwrap();
        let told = told("rfc", &page.settings);
        assert_eq!(told.as_object().unwrap().len(), TOLD.len() + 1);
        assert_eq!(told["min_rto"], "1s");
    }
}
