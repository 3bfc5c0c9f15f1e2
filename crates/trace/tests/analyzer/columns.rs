//! Rows as columns.

use rexmit_trace::columns::{tables, Table, Values};
use rexmit_wire::Flags;

use crate::script::Script;

fn column<'t>(table: &'t Table, name: &str) -> &'t Values {
    let found: Vec<_> = table
        .columns
        .iter()
        .filter(|column| column.name == name)
        .collect();
    assert_eq!(found.len(), 1, "{name}");
    &found[0].values
}

fn texts(values: &Values) -> Vec<Option<&str>> {
    let Values::Text(indices, texts) = values else {
        panic!("no texts")
    };
    let lines: Vec<&str> = texts.lines.split_terminator('\n').collect();
    assert_eq!(lines.len(), texts.count as usize);
    let line = |index: &i32| usize::try_from(*index).ok().map(|index| lines[index]);
    indices.iter().map(line).collect()
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
    let [(_, connections), (_, retransmissions), (_, whatif), _] =
        tables(&rows, "a\nb.pcap", &["k=2".to_owned()]);
    for (table, count) in [
        (&connections, 300),
        (&retransmissions, 1),
        (&whatif, rows.whatif.len()),
    ] {
        assert!(table
            .columns
            .iter()
            .all(|column| column.values.len() == count));
    }
    assert_eq!(
        texts(column(&connections, "capture"))[299],
        Some("a b.pcap")
    );
    assert_eq!(
        texts(column(&connections, "flow"))[299],
        Some("10.0.0.1:40000 > 10.0.0.2:80")
    );
    assert_eq!(texts(column(&connections, "closed"))[0], Some("fin"));
    assert_eq!(texts(column(&connections, "forward_syn_system"))[0], None);
    let Values::Integer(ids, None) = column(&connections, "connection") else {
        panic!()
    };
    assert_eq!(ids[299], 299);
    let Values::Integer(mss, Some(mask)) = column(&connections, "backward_mss_bytes") else {
        panic!()
    };
    assert_eq!((mss[7], mask[7]), (1_400, 1));
    let Values::Number(start) = column(&connections, "start_s") else {
        panic!()
    };
    assert_eq!(start[0], 1_000.0);
    let Values::Number(best) = column(&connections, "forward_k") else {
        panic!()
    };
    assert!(best[0].is_nan());
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
fn tables_without_rows_have_all_columns() {
    let all = tables(&Script::new(1).rows(), "", &[]);
    let lengths: Vec<usize> = all.iter().map(|(_, table)| table.columns.len()).collect();
    assert_eq!(lengths, [194, 34, 14, 15]);
    let rows = Script::new(40_000).handshake().rows();
    let names = |table: &Table| {
        table
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect::<Vec<_>>()
    };
    for ((_, empty), (_, full)) in all.iter().zip(&tables(&rows, "", &[])) {
        assert_eq!(names(empty), names(full));
    }
}
