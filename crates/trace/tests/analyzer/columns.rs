//! Rows as columns.

use rexmit_schema::values::{Column, Table, Values};
use rexmit_trace::columns::{tables, Purpose};
use rexmit_wire::Flags;

use crate::script::Script;

fn column<'t>(table: &'t Table, name: &str) -> &'t Values {
    let found: Vec<_> = table
        .columns
        .iter()
        .filter(|column| column.declared.name == name)
        .collect();
    assert_eq!(found.len(), 1, "{name}");
    &found[0].values
}

fn texts(values: &Values) -> Vec<Option<&str>> {
    let Values::Text(indices, texts) = values else {
        panic!("no texts")
    };
    let all: Vec<&str> = texts.iter().collect();
    let text = |index: &i32| usize::try_from(*index).ok().map(|index| all[index]);
    indices.iter().map(text).collect()
}

#[test]
fn columns_hold_what_the_rows_hold() {
    let mut script = Script::new(40_000);
    script.handshake();
    script.exchange();
    let again = script.packets[script.packets.len() - 2].1;
    script
        .wait(300)
        .put(again)
        .wait(10)
        .send(true, Flags::ACK, 0)
        .close();
    let mut rows = script.rows();
    // More rows than go through the columns together.
    for n in 1..300 {
        let mut more = rows.connections[0].clone();
        more.connection = n;
        rows.connections.push(more);
    }
    let [connections, sides, mechanisms, parameters, retransmissions, whatif, ..] =
        tables(&rows, "a.pcap", &["k=2".to_owned()], |_| Purpose::Tables);
    for (table, count) in [
        (&connections, 300),
        (&sides, 600),
        (&mechanisms, 300),
        (&retransmissions, 1),
        (&whatif, rows.whatif.len()),
    ] {
        assert!(table
            .columns
            .iter()
            .all(|column| column.values.len() == count));
    }
    assert_eq!(texts(column(&connections, "capture"))[299], Some("a.pcap"));
    assert_eq!(
        texts(column(&connections, "flow"))[299],
        Some("10.0.0.1:40000 > 10.0.0.2:80")
    );
    assert_eq!(texts(column(&connections, "closed"))[0], Some("fin"));
    assert_eq!(texts(column(&sides, "syn_system"))[0], None);
    assert_eq!(
        texts(column(&sides, "flow"))[598..],
        [
            Some("10.0.0.1:40000 > 10.0.0.2:80"),
            Some("10.0.0.2:80 > 10.0.0.1:40000")
        ]
    );
    assert_eq!(
        texts(column(&sides, "direction"))[598..],
        [Some("forward"), Some("backward")]
    );
    let Values::Integer(ids, None) = column(&connections, "connection") else {
        panic!()
    };
    assert_eq!(ids[299], 299);
    let Values::Integer(mss, Some(mask)) = column(&sides, "mss_bytes") else {
        panic!()
    };
    assert_eq!((mss[15], mask[15]), (1_400, true));
    let Values::Number(start) = column(&connections, "start_s") else {
        panic!()
    };
    assert_eq!(start[0], 1_000.0);
    let Values::Number(rtt) = column(&sides, "best_case_s") else {
        panic!()
    };
    assert!(rtt[0].is_nan());
    // The timer of the server's retransmission shows its smallest timeout, in 300 rows alike.
    let shown = texts(column(&parameters, "parameter"));
    let (Values::Number(low), Values::Number(value)) =
        (column(&parameters, "low"), column(&parameters, "value"))
    else {
        panic!()
    };
    assert!(!shown.is_empty() && shown.len() % 300 == 0, "{shown:?}");
    assert!(low.iter().zip(value).all(|(low, value)| low <= value));
    assert_eq!(
        texts(column(&retransmissions, "flow")),
        [Some("10.0.0.2:80 > 10.0.0.1:40000")]
    );
    assert_eq!(
        texts(column(&retransmissions, "direction")),
        [Some("backward")]
    );
    let Values::Integer(start, None) = column(&retransmissions, "seq_start") else {
        panic!()
    };
    assert_eq!(
        start[0],
        i64::from(rows.retransmissions[0].row.range.start.get())
    );
}

#[test]
fn only_the_mechanisms_of_a_side_have_rows() {
    let mut script = Script::new(40_000);
    script.handshake();
    script.exchange();
    let again = script.packets[script.packets.len() - 2].1;
    script
        .wait(300)
        .put(again)
        .wait(10)
        .send(true, Flags::ACK, 0)
        .close();
    let rows = script.rows();
    let connection = &rows.connections[0].row;
    let [_, _, mechanisms, ..] = tables(&rows, "", &[], |_| Purpose::Tables);
    assert_eq!(texts(column(&mechanisms, "direction")), [Some("backward")]);
    let row = &rows.retransmissions[0].row;
    assert_eq!(
        texts(column(&mechanisms, "mechanism")),
        [Some(row.mechanism.as_str())]
    );
    let counted = ["needed", "spurious"].map(|name| match column(&mechanisms, name) {
        Values::Integer(values, None) => values[0],
        _ => panic!(),
    });
    assert_eq!(counted.iter().sum::<i64>(), 1);
    let Values::Number(waited) = column(&mechanisms, "waited_s") else {
        panic!()
    };
    assert_eq!(waited[0], connection.waited().as_secs_f64());
}

/// Columns that have a null and are declared without.
fn wrongly_null(table: &Table) -> Vec<&str> {
    let wrong = |column: &&Column| column.values.has_nulls() && !column.declared.nullable;
    let columns = table.columns.iter().filter(wrong);
    columns.map(|column| column.declared.name).collect()
}

#[test]
fn tables_are_as_they_are_declared() {
    let empty = Script::new(1).rows();
    let full = Script::new(40_000).handshake().rows();
    for rows in [empty, full] {
        let declared = rexmit_schema::trace::PLACE.tables;
        for (table, declared) in tables(&rows, "", &[], |_| Purpose::Tables)
            .iter()
            .zip(declared)
        {
            assert_eq!(table.name, declared.name);
            let names = table.columns.iter().map(|column| column.declared);
            assert!(names.eq(declared.columns()), "{}", table.name);
            assert_eq!(wrongly_null(table), [""; 0], "{}", table.name);
        }
    }
}

#[test]
fn a_page_has_its_columns_and_the_account_of_what_was_asked() {
    let mut script = Script::new(40_000);
    script.handshake();
    script.exchange();
    let rows = script.close().rows();
    let [all, page] =
        [Purpose::Tables, Purpose::Page].map(|purpose| tables(&rows, "", &[], |_| purpose));
    for (page, all) in page.iter().zip(&all) {
        let on_page = |column: &&Column| column.declared.on_page;
        let names = |of: &Table| of.columns.iter().filter(on_page).count();
        assert_eq!((page.columns.len(), names(page)), (names(all), names(all)));
    }
    let asked = |of: &[Table; 9]| match column(&of[7], "asked") {
        Values::Boolean(asked, None) => asked.clone(),
        _ => panic!(),
    };
    let (page, all) = (asked(&page), asked(&all));
    assert!(page.iter().all(|asked| *asked) && page.len() < all.len());
    assert_eq!(page.len(), all.iter().filter(|asked| **asked).count());
}
