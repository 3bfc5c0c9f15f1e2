//! Python bindings, nothing else.

#![expect(
    clippy::needless_pass_by_value,
    reason = "functions are called with what is made of Python's objects"
)]

mod annotate;
mod arrow;
mod capture;
mod distributions;
mod error;
mod events;
mod filter;
mod flow;
mod monitor;
mod parts;
mod points;
mod schema;
mod stacks;
mod synth;
mod tables;
mod toml_lines;
mod trace;

use error::Error;
use mimalloc::MiMalloc;
use pyo3::prelude::*;

/// An analysis makes and drops small things of many sizes by the million, on a thread that did not begin the process: with
/// this allocator it takes a sixth less processor time than with glibc's (`benches/speed.py`).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Gives what was freed back to the system: the allocator keeps it for what may come, and after an analysis that is others'.
fn give_back() {
    extern "C" {
        fn mi_collect(force: bool);
    }
    // SAFETY: the function of mimalloc that is so declared in `mimalloc.h`; it may be called at any time, on any thread.
    unsafe { mi_collect(true) }
}

/// Runs Rust code that touches no Python object while other Python threads go on.
fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(work)
}

/// The private module `rexmit._core`; `python/rexmit/_core.pyi` describes it.
#[pymodule]
mod _core {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use pyo3::prelude::*;
    use rexmit_tcp::settings::Settings;
    use rexmit_tcp::stacks::StackError;
    use rexmit_time::Streams;

    #[pymodule_export]
    use crate::annotate::{copy_commented, find_frames};
    #[pymodule_export]
    use crate::arrow::Batch;
    #[pymodule_export]
    use crate::capture::Packet;
    use crate::detached;
    use crate::error::Error;
    #[pymodule_export]
    use crate::events::{run_model, RunRows};
    #[pymodule_export]
    use crate::filter::check_filter;
    #[pymodule_export]
    use crate::monitor::{kind_names, rewrite_captures};
    #[pymodule_export]
    use crate::parts::{analyse_part, judge_parts, most_groups, read_part, MergeParts};
    #[pymodule_export]
    use crate::points::{Points, Samples};
    #[pymodule_export]
    use crate::stacks::{StackPage, StackSetting};
    #[pymodule_export]
    use crate::synth::make_corpus;
    #[pymodule_export]
    use crate::toml_lines::toml_lines;
    #[pymodule_export]
    use crate::trace::Trace;

    /// How many times as many bytes may come out of packed captures.
    #[pyfunction]
    fn unpack_limit() -> u64 {
        rexmit_wire::capture::unpack_limit()
    }

    /// From here on so many times as many bytes may come out of packed captures.
    #[pyfunction]
    fn set_unpack_limit(times: u64) {
        rexmit_wire::capture::set_unpack_limit(times);
    }

    /// The rows of a Parquet file, and bytes that they take in memory: all, and those of its largest group. Raises ValueError
    /// for a file that no table of ours is like.
    #[pyfunction]
    fn table_size(py: Python<'_>, path: PathBuf) -> Result<(u64, u64, u64), Error> {
        detached(py, || crate::tables::size(&path))
    }

    /// The version of rexmit.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// The first `count` numbers of a random stream, uniform in [0, 1).
    #[pyfunction]
    fn stream_uniform(py: Python<'_>, seed: u64, name: &str, index: u64, count: usize) -> Vec<f64> {
        let mut stream = Streams::new(seed).stream(name, index);
        detached(py, || (0..count).map(|_| stream.uniform()).collect())
    }

    /// The first `count` numbers of a random stream, 64 bits each.
    #[pyfunction]
    fn stream_u64(py: Python<'_>, seed: u64, name: &str, index: u64, count: usize) -> Vec<u64> {
        let mut stream = Streams::new(seed).stream(name, index);
        detached(py, || (0..count).map(|_| stream.next_u64()).collect())
    }

    /// How probable `t` or more is, to either side, by Student's t.
    #[pyfunction]
    fn student_tails(t: f64, freedom: f64) -> PyResult<f64> {
        crate::distributions::student_tails(t, freedom)
    }

    /// The quantile of Student's t.
    #[pyfunction]
    fn student_quantile(share: f64, freedom: f64) -> PyResult<f64> {
        crate::distributions::student_quantile(share, freedom)
    }

    /// The quantile of a binomial distribution, continued between whole numbers.
    #[pyfunction]
    fn binomial_quantile(share: f64, n: f64, probability: f64) -> PyResult<f64> {
        crate::distributions::binomial_quantile(share, n, probability)
    }

    /// The text of a loss pattern, read and written again.
    #[pyfunction]
    fn loss_pattern(text: &str) -> Result<String, Error> {
        let pattern: rexmit_loss::pattern::Pattern = text.parse()?;
        Ok(pattern.to_string())
    }

    /// The TCP packets of a pcapng file with link type RAW, in the file's order.
    #[pyfunction]
    fn read_pcapng(py: Python<'_>, path: PathBuf) -> Result<Vec<Packet>, Error> {
        detached(py, || crate::capture::read(&path))
    }

    /// The packets of connections out of captures, a list for each, in order of time.
    #[pyfunction]
    fn read_flows(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        flows: Vec<(String, String, i64, i64)>,
    ) -> Result<Vec<Vec<Packet>>, Error> {
        let end = |text: &str| {
            text.parse()
                .map_err(|_| Error::plan(format_args!("{text} is no address with a port")))
        };
        let wanted = flows
            .iter()
            .map(|(client, server, since_ns, until_ns)| {
                Ok(crate::flow::Wanted {
                    ends: (end(client)?, end(server)?),
                    times: (*since_ns, *until_ns),
                })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        detached(py, || crate::flow::read(&paths, &wanted))
    }

    /// Times of a point's clock by the first point's, in nanoseconds; `steps` as `Points.stretches` has them.
    #[pyfunction]
    fn aligned(steps: Vec<crate::points::ClockStep>, times: Vec<i64>) -> Vec<i64> {
        crate::points::aligned(&steps, times)
    }

    /// The tables of each place, and their columns.
    #[pyfunction]
    fn places() -> Vec<(&'static str, Vec<crate::schema::Table>)> {
        crate::schema::places()
    }

    /// The words of mechanisms, in order.
    #[pyfunction]
    fn mechanisms() -> Vec<&'static str> {
        crate::schema::mechanisms()
    }

    /// The words of owners of time, in order.
    #[pyfunction]
    fn owners() -> Vec<&'static str> {
        crate::schema::owners()
    }

    /// The stacks of the model.
    #[pyfunction]
    fn stack_names() -> Vec<&'static str> {
        rexmit_tcp::stacks::all().map(|page| page.name).collect()
    }

    /// The settings that words of a what-if name.
    #[pyfunction]
    fn whatif_settings(words: Vec<String>) -> Result<Vec<String>, Error> {
        Ok(rexmit_trace::whatif::Plan::parse(&words)?.names().to_vec())
    }

    /// What hashes things by what packets say has a key of this process, which nobody outside knows.
    #[pymodule_init]
    fn init() -> PyResult<()> {
        crate::trace::asked::drawn().become_that_of_process();
        Ok(())
    }

    /// The pages of the emulations that words choose.
    #[pyfunction]
    fn emulations(words: Vec<String>) -> Result<Vec<&'static str>, Error> {
        Ok(rexmit_trace::emulate::Chosen::parse(&words)?.pages())
    }

    /// The pages of the model's stacks: every setting with its source.
    #[pyfunction]
    fn stack_pages(py: Python<'_>) -> PyResult<Vec<StackPage>> {
        crate::stacks::pages(py)
    }

    /// Every setting of a stack with sysctls and then changes put over its own, in order.
    #[pyfunction]
    fn check_stack(
        name: &str,
        changes: BTreeMap<String, String>,
        sysctls: BTreeMap<String, String>,
    ) -> Result<Vec<(&'static str, String)>, Error> {
        let (settings, _) = rexmit_tcp::stacks::build(name, &changes, &sysctls)?;
        let value = |name: &'static str| Some((name, settings.get(name)?));
        Ok(Settings::names().filter_map(value).collect())
    }

    /// Whether a setting of stacks can have a value, whatever the others are.
    #[pyfunction]
    fn check_setting(name: &str, value: &str) -> Result<(), Error> {
        Ok(Settings::accepts(name, value).map_err(StackError::Setting)?)
    }
}
