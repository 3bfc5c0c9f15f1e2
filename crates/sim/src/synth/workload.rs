//! What one connection is used for.

use rexmit_time::{Duration, Stream};

use super::draw::{chance, geometric, seconds};
use super::mix::WorkloadMix;
use crate::apps::{Exchange, Script};

/// Requests on one connection, at most.
const MOST_REQUESTS: u64 = 200;
/// The brief answer to an upload, bytes.
const RECEIPT: u64 = 240;

/// Draws what a connection is used for; whether the client sends most.
pub(super) fn draw(mix: &WorkloadMix, stream: &mut Stream) -> (Script, bool) {
    let upload = chance(stream, mix.upload_share);
    let requests = geometric(stream, mix.requests, MOST_REQUESTS);
    let exchanges: Vec<Exchange> = (0..requests)
        .map(|_| {
            let small = mix.request_bytes.draw(stream) as u64;
            let large = mix.response_bytes.draw(stream);
            let (request, response) = if upload {
                (small + large, RECEIPT)
            } else {
                (small, large)
            };
            Exchange {
                request: request.max(1),
                response: response.max(1),
                work: seconds(mix.work_s.draw(stream)).max(Duration::from_micros(1)),
                think: seconds(mix.think_s.draw(stream)).max(Duration::from_micros(1)),
            }
        })
        .collect();
    let expected: u64 = exchanges.iter().map(|exchange| exchange.response).sum();
    let aborts = chance(stream, mix.abort_share);
    let script = Script {
        server_closes: chance(stream, mix.server_closes_share),
        aborts_after: aborts.then(|| 1 + stream.below(expected)),
        exchanges,
        ..Script::default()
    };
    (script, upload)
}
