use rexmit_time::Duration;

use super::{Settings, Value};

#[test]
fn every_setting_goes_to_text_and_back() {
    let defaults = Settings::default();
    for name in Settings::names() {
        let text = defaults.get(name).unwrap();
        let mut copy = defaults.clone();
        copy.set(name, &text).unwrap();
        assert_eq!(copy, defaults, "{name} = {text}");
    }
}

#[test]
fn a_name_is_of_one_group_and_the_defaults_make_a_stack() {
    let mut names: Vec<&str> = Settings::names().collect();
    names.sort_unstable();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    assert_eq!(Settings::default().check(), Ok(()));
}

#[test]
fn every_setting_says_what_it_is_and_what_may_stand_there() {
    for field in Settings::fields() {
        assert!(field.about.len() > 3, "{}", field.name);
        assert!(field.allowed.len() > 3, "{}", field.name);
        let mut settings = Settings::default();
        let error = settings.set(field.name, "no value").unwrap_err();
        assert!(error.to_string().contains(&field.allowed), "{error}");
    }
}

#[test]
fn a_value_is_accepted_by_itself_whatever_it_needs_of_others() {
    assert!(Settings::accepts("early_retransmit", "delayed").is_ok());
    assert!(Settings::accepts("tlp", "draft").is_ok());
    assert!(Settings::accepts("min_rto", "200s").is_ok());
    assert!(Settings::accepts("min_rto", "soon").is_err());
}

#[test]
fn an_unknown_name_brings_the_one_perhaps_meant() {
    let error = Settings::default().set("min-rto", "1s").unwrap_err();
    assert_eq!(
        error.to_string(),
        "a stack has no setting min-rto; did you mean min_rto?"
    );
    let error = Settings::default().set("colour", "red").unwrap_err();
    assert!(error.to_string().ends_with("lists the settings"), "{error}");
}

#[test]
fn times_are_read_to_the_nanosecond() {
    for (text, nanos) in [
        ("200ms", 200_000_000),
        ("1.5s", 1_500_000_000),
        ("0.001us", 1),
        ("3375ms", 3_375_000_000),
        ("0s", 0),
    ] {
        assert_eq!(
            Duration::parse(text).map(Duration::as_nanos),
            Some(nanos),
            "{text}"
        );
    }
    for text in ["", "5", "ms", "-1s", "1 s", "1e3ms", "1.s5", "99999999999s"] {
        assert_eq!(Duration::parse(text), None, "{text:?}");
    }
    assert_eq!(Duration::from_millis(3375).text(), "3375ms");
    assert_eq!(Duration::from_secs(120).text(), "120s");
}

#[test]
fn buffers_are_three_numbers_in_order() {
    assert_eq!(
        <[u32; 3]>::parse("4096 16384\t4194304"),
        Some([4096, 16384, 4_194_304])
    );
    for text in ["4096 16384", "4096 16384 4194304 1", "2 1 3", "a b c"] {
        assert_eq!(<[u32; 3]>::parse(text), None, "{text}");
    }
}
