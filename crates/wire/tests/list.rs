//! Lists of packets as text are read as captures.

use proptest::prelude::*;
use rexmit_wire::capture::Reader;
use rexmit_wire::headers::Headers;
use rexmit_wire::Skip;

/// Packets with their times in nanoseconds, what was no TCP, and what is missing.
struct Told {
    packets: Vec<(u64, Headers)>,
    skipped: Vec<Skip>,
    missing: String,
}

fn read(text: impl AsRef<[u8]>) -> Told {
    let mut reader = Reader::new(text.as_ref()).unwrap();
    assert_eq!(reader.format(), "text");
    let (mut packets, mut skipped) = (Vec::new(), Vec::new());
    while let Some(frame) = reader.next_frame().unwrap() {
        match Headers::decode(frame.link, frame.data, frame.original_len) {
            Ok(headers) => packets.push((frame.time.as_nanos(), headers)),
            Err(skip) => skipped.push(skip),
        }
    }
    let missing = reader.missing().unwrap();
    Told {
        packets,
        skipped,
        missing,
    }
}

/// Sequence number, acknowledgement number, payload.
fn numbers(told: &Told) -> Vec<(u32, u32, u32)> {
    let one = |(_, it): &(u64, Headers)| (it.seq.get(), it.ack.get(), it.payload_len);
    told.packets.iter().map(one).collect()
}

/// A connection as tcpdump prints it: a request, its answer, both acknowledged.
const LINES: [&str; 6] = [
    "10.0.0.1.4000 > 10.0.0.2.80: Flags [S], seq 1000, win 64240, options [mss 1460,sackOK,TS val 7 ecr 0,nop,wscale 7], length 0",
    "10.0.0.2.80 > 10.0.0.1.4000: Flags [S.], seq 4294967000, ack 1001, win 65160, options [mss 1460,sackOK,TS val 9 ecr 7,nop,wscale 7], length 0",
    "10.0.0.1.4000 > 10.0.0.2.80: Flags [.], ack 1, win 502, options [nop,nop,TS val 8 ecr 9], length 0",
    "10.0.0.1.4000 > 10.0.0.2.80: Flags [P.], seq 1:78, ack 1, win 502, options [nop,nop,TS val 8 ecr 9], length 77: HTTP: GET / HTTP/1.1",
    "10.0.0.2.80 > 10.0.0.1.4000: Flags [P.], seq 1:501, ack 78, win 509, options [nop,nop,TS val 10 ecr 8], length 500",
    "10.0.0.1.4000 > 10.0.0.2.80: Flags [.], ack 1, win 501, options [nop,nop,TS val 11 ecr 10,nop,nop,sack 1 {201:501}], length 0",
];

/// The numbers on the wire, past the end of the sequence space.
const NUMBERS: [(u32, u32, u32); 6] = [
    (1000, 0, 0),
    (4_294_967_000, 1001, 0),
    (1001, 4_294_967_001, 0),
    (1001, 4_294_967_001, 77),
    (4_294_967_001, 1078, 500),
    (1078, 4_294_967_001, 0),
];

/// The lines, of each what `before` makes of its number in front of it.
fn list(before: impl Fn(usize) -> String) -> String {
    let lines = LINES.iter().enumerate();
    lines
        .map(|(at, line)| format!("{}{line}\n", before(at)))
        .collect()
}

#[test]
fn every_form_of_tcpdump_gives_the_same() {
    let plain = |at| format!("17:06:27.00{at}000 IP ");
    let forms: [(&str, String); 9] = [
        ("plain", list(plain)),
        (
            "dated",
            list(|at| format!("2010-06-20 17:06:27.00{at}000 IP ")),
        ),
        ("epoch", list(|at| format!("1277053587.00{at}000 IP "))),
        (
            "counted",
            list(|at| format!("    {at}  17:06:27.00{at}000 IP ")),
        ),
        ("since first", list(|at| format!(" 00:00:00.00{at}000 IP "))),
        (
            "any",
            list(|at| format!("17:06:27.00{at}000 eth0  Out IP ")),
        ),
        (
            "link",
            list(|at| {
                format!("17:06:27.00{at}000 00:21:6a:5b:7d:4a > 00:05:5d:21:99:4c, ethertype IPv4 (0x0800), length 66: ")
            }),
        ),
        (
            "verbose",
            list(|at| {
                format!("17:06:27.00{at}000 IP (tos 0x0, ttl 64, id 5, offset 0, flags [DF], proto TCP (6), length 52)\n    ")
            }),
        ),
        ("quoted", list(|at| format!("> > {}", plain(at)))),
    ];
    for (form, text) in forms {
        let told = read(&text);
        assert_eq!(numbers(&told), NUMBERS, "{form}");
        let times = told
            .packets
            .iter()
            .map(|(time, _)| time % 1_000_000_000 / 1_000_000);
        assert!(times.eq(0..6), "{form}");
        let syn = told.packets[0].1.syn.unwrap();
        assert_eq!((syn.mss, syn.window_scale), (Some(1460), Some(7)), "{form}");
        let stamps = told.packets[4].1.timestamps.unwrap();
        assert_eq!((stamps.value, stamps.echo), (10, 8), "{form}");
        let block = told.packets[5].1.sack.blocks()[0];
        assert_eq!(
            (block.start.get(), block.len()),
            (4_294_967_201, 300),
            "{form}"
        );
        assert_eq!(told.packets[0].1.window, 64240, "{form}");
        let dont_fragment = told.packets[0].1.dont_fragment;
        assert_eq!(dont_fragment, form == "verbose", "{form}");
    }
}

#[test]
fn numbers_as_they_are_on_the_wire_stay_so() {
    let text = list(|at| format!("17:06:27.00{at}000 IP "))
        .replace("seq 1:78, ack 1,", "seq 1001:1078, ack 4294967001,")
        .replace("seq 1:501, ack 78,", "seq 4294967001:205, ack 1078,")
        .replace("{201:501}", "{4294967201:205}")
        .replace("ack 1,", "ack 4294967001,");
    let told = read(&text);
    assert_eq!(numbers(&told), NUMBERS);
    let block = told.packets[5].1.sack.blocks()[0];
    assert_eq!(block.start.get(), 4_294_967_201);
}

#[test]
fn the_form_of_tcpdump_3_is_read() {
    let text = "\
17:06:27.000000 IP 10.0.0.1.4000 > 10.0.0.2.80: S 1000:1000(0) win 5840 <mss 1460,sackOK,timestamp 7 0,nop,wscale 7> (DF)
17:06:27.001000 IP 10.0.0.2.80 > 10.0.0.1.4000: S 9000:9000(0) ack 1001 win 5792 <mss 1460>
17:06:27.002000 IP 10.0.0.1.4000 > 10.0.0.2.80: . ack 1 win 46
17:06:27.003000 IP 10.0.0.1.4000 > 10.0.0.2.80: P 1:78(77) ack 1 win 46
17:06:27.004000 IP 10.0.0.2.80 > 10.0.0.1.4000: . ack 78 win 46 <nop,nop,sack sack 1 {101:201} >
";
    let told = read(text);
    let expected = [
        (1000, 0, 0),
        (9000, 1001, 0),
        (1001, 9001, 0),
        (1001, 9001, 77),
        (9001, 1078, 0),
    ];
    assert_eq!(numbers(&told), expected);
    assert_eq!(told.packets[4].1.sack.blocks()[0].start.get(), 1101);
    assert_eq!(told.packets[0].1.timestamps.unwrap().value, 7);
}

/// The connection as tshark prints it; the request is printed as what it carries.
const COLUMNS: [&str; 6] = [
    "TCP 74 4000 → 80 [SYN] Seq=0 Win=64240 Len=0 MSS=1460 SACK_PERM TSval=7 TSecr=0 WS=128",
    "TCP 74 80 → 4000 [SYN, ACK] Seq=0 Ack=1 Win=65160 Len=0 MSS=1460 SACK_PERM=1 TSval=9 TSecr=7 WS=128",
    "TCP 66 4000 → 80 [ACK] Seq=1 Ack=1 Win=64256 Len=0 TSval=8 TSecr=9",
    "HTTP 143 GET / HTTP/1.1",
    "TCP 566 [TCP Retransmission] 80 → 4000 [PSH, ACK] Seq=1 Ack=78 Win=65152 Len=500 TSval=10 TSecr=8 [TCP segment of a reassembled PDU]",
    "TCP 78 4000 → 80 [ACK] Seq=78 Ack=1 Win=64128 Len=0 TSval=11 TSecr=10 SLE=201 SRE=501",
];

const ENDS: [(&str, &str); 2] = [("10.0.0.1", "10.0.0.2"), ("10.0.0.2", "10.0.0.1")];

fn ends(at: usize) -> (&'static str, &'static str) {
    ENDS[usize::from(matches!(at, 1 | 4))]
}

fn columns(line: impl Fn(usize, (&str, &str), &str) -> String) -> String {
    let lines = COLUMNS.iter().enumerate();
    lines.map(|(at, text)| line(at, ends(at), text)).collect()
}

#[test]
fn every_form_of_columns_gives_the_same() {
    let csv = |line: &str| {
        let (protocol, rest) = line.split_once(' ').unwrap();
        let (length, info) = rest.split_once(' ').unwrap();
        format!(
            "\"{protocol}\",\"{length}\",\"{}\"",
            info.replace("\"", "\"\"")
        )
    };
    let forms = [
        columns(|at, (src, dst), line| format!("    {at} 0.00{at}000000 {src} → {dst} {line}\n")),
        columns(|at, (src, dst), line| {
            format!("  {at} 2010-06-20 17:06:27.00{at}000   {src} → {dst}  {line}\n")
        }),
        columns(|at, (src, dst), line| {
            let head = "No.     Time           Source        Destination    Protocol Length Info\n";
            format!("{head}   {at} 0.00{at}000   {src}      {dst}     {line}\n\n")
        }),
        "\"No.\",\"Time\",\"Source\",\"Destination\",\"Protocol\",\"Length\",\"Info\"\n".to_owned()
            + &columns(|at, (src, dst), line| {
                format!(
                    "\"{at}\",\"0.00{at}000\",\"{src}\",\"{dst}\",{}\n",
                    csv(line)
                )
            }),
        columns(|at, (src, dst), line| {
            let line = line.replace('→', ">");
            format!("  0.00{at}000 {src} -> {dst} {line}\n")
        }),
    ];
    for text in forms {
        let told = read(&text);
        let expected = [
            (0, 0, 0),
            (0, 1, 0),
            (1, 1, 0),
            (1, 1, 77),
            (1, 78, 500),
            (78, 1, 0),
        ];
        assert_eq!(numbers(&told), expected, "{text}");
        let times = told
            .packets
            .iter()
            .map(|(time, _)| time % 1_000_000_000 / 1_000_000);
        assert!(times.eq(0..6), "{text}");
        let windows = told.packets.iter().map(|(_, it)| it.window);
        assert!(windows.eq([64240, 65160, 502, 502, 509, 501]), "{text}");
        let syn = told.packets[1].1.syn.unwrap();
        assert_eq!((syn.window_scale, syn.sack_permitted), (Some(7), true));
        assert_eq!(told.packets[5].1.sack.blocks()[0].start.get(), 201);
        assert!(told.missing.contains("follow from other packets for 1 "));
    }
}

#[test]
fn what_is_no_tcp_is_counted_and_what_is_broken_told() {
    let text = "\
17:06:27.000000 ARP, Request who-has 10.0.0.1 tell 10.0.0.2, length 28
17:06:27.001000 IP 10.0.0.1.5353 > 10.0.0.2.53: UDP, length 100
17:06:27.002000 IP 10.0.0.9 > 10.0.0.1: ICMP 10.0.0.2 unreachable - need to frag (mtu 1400), length 556
\tIP (tos 0x0, ttl 64, id 7, offset 0, flags [DF], proto TCP (6), length 548)
    10.0.0.1.4000 > 10.0.0.2.80: Flags [.], seq 6469:6977, ack 5971, win 2052, length 508
17:06:27.003000 IP 10.0.0.1.4000 > 10.0.0.2.80: Flags [.], seq 6469:6977, ack 5971, win 2052, length 99
17:06:27.004000 IP 10.0.0.1.4000 > 10.0.0.2.80: Flags [S], seq 7, win 2052, length 0
17:06:27.005000 IP 10.0.0.1.4000 > 10.0.0.2.80: Flags [S";
    let told = read(text);
    assert_eq!(numbers(&told), [(7, 0, 0)]);
    let icmp = Skip::NotTcp { protocol: 1 };
    let udp = Skip::NotTcp { protocol: 17 };
    assert_eq!(told.skipped, [Skip::Arp, udp, icmp]);
    let broken = "2 lines that begin as packets cannot be read, the first is line 6";
    assert!(told.missing.contains(broken), "{}", told.missing);
}

#[test]
fn names_stand_for_addresses() {
    let text = list(|at| format!("17:06:27.00{at}000 IP "))
        .replace("10.0.0.1.4000", "client.example.4000")
        .replace("10.0.0.2.80", "web.http");
    let told = read(text);
    assert_eq!(numbers(&told), NUMBERS);
    let flow = told.packets[0].1.flow;
    assert_eq!(flow.src.to_string(), "192.0.2.1");
    assert_eq!(flow.dst_port, 80);
    let made = "made address 192.0.2.1 for client.example, 192.0.2.2 for web";
    assert!(told.missing.contains(made), "{}", told.missing);
}

#[test]
fn lines_that_mail_wraps_are_put_together() {
    let text = list(|at| format!("17:06:27.00{at}000 IP "));
    let mut wrapped = String::new();
    for line in text.lines() {
        let mut width = 0;
        wrapped.push_str("> ");
        for word in line.split(' ') {
            if width + word.len() > 70 {
                wrapped.push_str("\n> ");
                width = 0;
            }
            width += word.len() + 1;
            wrapped.push_str(word);
            wrapped.push(' ');
        }
        wrapped.push('\n');
    }
    assert_eq!(numbers(&read(wrapped)), NUMBERS);
}

#[test]
fn a_list_that_begins_within_a_connection_is_consistent() {
    // tcpdump prints the numbers of the first segment as they are on the wire, and counts from them.
    let text = "\
17:06:27.000000 IP 10.0.0.2.80 > 10.0.0.1.4000: Flags [.], seq 3000000000:3000001448, ack 2000000000, win 9, length 1448
17:06:27.001000 IP 10.0.0.1.4000 > 10.0.0.2.80: Flags [.], ack 1448, win 9, length 0
17:06:27.002000 IP 10.0.0.2.80 > 10.0.0.1.4000: Flags [.], seq 1448:2896, ack 1, win 9, length 1448
17:06:27.003000 IP 10.0.0.1.4000 > 10.0.0.2.80: Flags [P.], seq 1:2, ack 2896, win 9, length 1
";
    let told = read(text);
    let expected = [
        (3_000_000_000, 2_000_000_000, 1448),
        (2_000_000_000, 3_000_001_448, 0),
        (3_000_001_448, 2_000_000_000, 1448),
        (2_000_000_000, 3_000_002_896, 1),
    ];
    assert_eq!(numbers(&told), expected);
    // Where its beginning was cut off, all numbers are relative.
    let (_, later) = text.split_once('\n').unwrap();
    let expected = [(0, 1448, 0), (1448, 1, 1448), (1, 2896, 1)];
    assert_eq!(numbers(&read(later)), expected);
}

#[test]
fn text_that_is_no_list_is_told_as_that() {
    for text in [
        "Dear Sir,\n\nno packets here.\n",
        "12:00:00 something else\n",
    ] {
        let Err(error) = Reader::new(text.as_bytes()) else {
            panic!("{text}");
        };
        let told = error.to_string();
        assert!(
            told.contains("text without a line of a TCP packet"),
            "{told}"
        );
        assert!(
            told.contains("what tcpdump, tshark and Wireshark"),
            "{told}"
        );
    }
}

#[test]
fn a_list_without_sequence_numbers_says_how_to_print_one() {
    for text in [
        "17:06:27.000000 IP 10.0.0.1.4000 > 10.0.0.2.80: tcp 0\n",
        "17:06:27.000000 IP (tos 0x0, ttl 64, proto TCP (6), length 40)\n    10.0.0.1.4000 > 10.0.0.2.80: tcp 1448\n",
    ] {
        let Err(error) = Reader::new(text.as_bytes()) else {
            panic!("{text}");
        };
        let told = error.to_string();
        assert!(told.contains("print it without -q"), "{told}");
    }
}

/// The first packets of `LINES` in detail, as tshark prints them; the last with a block behind a hole.
fn details(head: impl Fn(usize) -> String) -> String {
    let one = |at: usize, (src, dst): (&str, &str), ports: &str, tcp: &str| {
        format!(
            "{}Frame {at}: 74 bytes on wire (592 bits), 74 bytes captured (592 bits)\n    \
             Arrival Time: Jun 20, 2010 17:06:27.00{at}000000 UTC\n    \
             Epoch Time: 1277053587.00{at}000000 seconds\n\
             Internet Protocol Version 4, Src: {src}, Dst: {dst}\n    \
             Differentiated Services Field: 0x02 (DSCP: CS0, ECN: ECT(0))\n    \
             Identification: 0x00{at}0 ({at})\n        .1.. .... = Don't fragment: Set\n    Time to Live: 61\n\
             Transmission Control Protocol, {ports}\n{tcp}\nData (5 bytes)\n    Window: 7\n\n0000  70 3e\n\n",
            head(at)
        )
    };
    let hosts = ("10.0.0.1", "server.example (10.0.0.2)");
    let back = (hosts.1, hosts.0);
    [
        one(
            0,
            hosts,
            "Src Port: 4000, Dst Port: http (80), Seq: 0, Len: 0",
            "    Sequence Number: 0    (relative sequence number)\n    Sequence Number (raw): 1000\n    \
             Acknowledgment Number: 0\n    Acknowledgment number (raw): 0\n    Flags: 0x002 (SYN)\n    \
             Window: 64240\n    [Calculated window size: 64240]\n    Urgent Pointer: 0\n    \
             Options: (20 bytes), Maximum segment size, SACK permitted, Timestamps, No-Operation (NOP), Window scale\n        \
             TCP Option - Maximum segment size: 1460 bytes\n        TCP Option - SACK permitted\n        \
             TCP Option - Timestamps: TSval 7, TSecr 0\n        TCP Option - No-Operation (NOP)\n        \
             TCP Option - Window scale: 7 (multiply by 128)\n    [Timestamps]",
        ),
        one(
            1,
            back,
            "Src Port: http (80), Dst Port: 4000, Seq: 1, Ack: 78, Len: 500",
            "    Sequence Number: 1    (relative sequence number)\n    Sequence Number (raw): 4294967001\n    \
             Acknowledgment Number: 78    (relative ack number)\n    Acknowledgment number (raw): 1078\n    \
             Flags: 0x018 (PSH, ACK)\n    Window: 509\n    [Calculated window size: 65152]\n    \
             TCP payload (500 bytes)\nHypertext Transfer Protocol\n    Sequence Number (raw): 1\n    \
             TCP Option - Maximum segment size: 1 bytes",
        ),
        one(
            2,
            hosts,
            "Src Port: 4000, Dst Port: http (80), Seq: 78, Ack: 1, Len: 0",
            "    Sequence Number: 78    (relative sequence number)\n    Sequence Number (raw): 1078\n    \
             Acknowledgment Number: 1    (relative ack number)\n    Acknowledgment number (raw): 4294967001\n    \
             Flags: 0x010 (ACK)\n    Window: 501\n    Options: (12 bytes), No-Operation (NOP), SACK\n        \
             TCP Option - SACK 201-501\n            left edge = 201 (relative)\n            right edge = 501 (relative)\n            \
             [D-SACK Left Edge = 7 (relative)]",
        ),
        "Frame 3: 42 bytes on wire (336 bits), 42 bytes captured (336 bits)\n    Epoch Time: 1277053587.003000000 seconds\n\
         Address Resolution Protocol (request)\n\n"
            .to_owned(),
    ]
    .concat()
}

/// A text as PowerShell writes it.
fn utf_16(text: &str) -> Vec<u8> {
    let units = core::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

#[test]
fn packets_in_detail_are_read_with_all_that_their_headers_have() {
    let summary = |at| {
        format!("    {at} 0.00{at}000000 10.0.0.1 10.0.0.2 TCP 74 4000 → 80 [ACK] Seq=1 Ack=1 Win=9 Len=9\n\n")
    };
    let plain = details(|_| String::new());
    for text in [
        plain.clone().into_bytes(),
        details(summary).into_bytes(),
        plain.replace('\n', "\r\n").into_bytes(),
        utf_16(&plain),
    ] {
        let told = read(text);
        assert_eq!(
            numbers(&told),
            [
                (1000, 0, 0),
                (4_294_967_001, 1078, 500),
                (1078, 4_294_967_001, 0)
            ]
        );
        assert_eq!(told.skipped.len(), 1);
        let [(time, syn), (_, data), (_, last)] = &told.packets[..] else {
            panic!()
        };
        assert_eq!(*time, 1_277_053_587_000_000_000);
        let options = syn.syn.unwrap();
        assert_eq!((options.mss, options.window_scale), (Some(1460), Some(7)));
        assert!(options.sack_permitted && options.timestamps);
        assert_eq!((syn.ttl, syn.ecn, data.ip_id), (61, 2, Some(0x0010)));
        assert!(syn.dont_fragment);
        assert_eq!(data.flow.src.to_string(), "10.0.0.2");
        assert_eq!((data.flow.src_port, data.window), (80, 509));
        assert!(data.flags.ack() && !data.flags.syn());
        let block = last.sack.blocks()[0];
        assert_eq!((block.start.get(), block.end.get()), (4_294_967_201, 205));
        assert_eq!(
            told.missing,
            "a list of packets as text, without their payload"
        );
    }
}

#[test]
fn text_in_utf_16_is_read_as_other_text() {
    let text = list(|at| format!("17:06:27.00{at}000 IP "));
    let swapped = |pair: &[u8]| [pair[1], pair[0]];
    let big: Vec<u8> = utf_16(&text).chunks(2).flat_map(swapped).collect();
    for bytes in [utf_16(&text), big] {
        assert_eq!(numbers(&read(bytes)), NUMBERS);
    }
    let Err(error) = Reader::new(&utf_16("no packets here\n")[..]) else {
        panic!()
    };
    assert!(error.to_string().contains("text in UTF-16 without a line"));
}

/// Times that count from different things, some of them later than a capture can hold.
const TIMES: [&str; 11] = [
    "17:06:27.000000",
    "00:00:00.000000",
    "0.000001",
    "99999999.9",
    "1276992000.5",
    "4294967295.9",
    "4294967296.0",
    "18446744073.709551615",
    "99999999999999999999.1",
    "2010-06-20 17:06:27.1",
    "9999-12-31 23:59:60.9",
];

#[test]
fn a_time_that_counts_from_something_else_is_no_time() {
    for first in ["17:06:26", "0.5", "1276992000.0"] {
        for other in TIMES {
            let line = |time: &str, at: usize| format!("{time} IP {}\n", LINES[at]);
            let text = line(first, 0).repeat(6) + &line(other, 1) + &line(first, 2);
            let times: Vec<u64> = read(&text).packets.iter().map(|packet| packet.0).collect();
            let (begin, end) = (times[0], times[times.len() - 1]);
            assert_eq!(begin, end, "{first}, {other}");
        }
    }
}

#[test]
fn a_length_that_no_frame_has_is_not_read() {
    let line = |frame: u32, protocol: &str, info: &str| {
        format!("1 0.5 10.0.0.1 → 10.0.0.2 {protocol} {frame} {info}\n")
    };
    let ports = "1000 → 80 [ACK] Seq=1 Ack=1 Win=1000";
    let text = [
        line(54, "TCP", &format!("{ports} Len=0")),
        line(4_294_967_295, "TCP", &format!("{ports} Len=0")),
        line(66, "TCP", &format!("{ports} Len=10 TSval=1 TSecr=1")),
        line(4_294_967_295, "HTTP", "GET / HTTP/1.1"),
    ];
    let told = read(text.concat());
    assert_eq!(told.packets.len(), 2);
    assert!(
        told.missing
            .contains("2 lines that begin as packets cannot be read"),
        "{}",
        told.missing
    );
}

/// A list whose lines were changed: bytes put in, taken out, lines doubled, dropped and cut.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..4_u8);
    let both = list(|at| format!("17:06:27.00{at}000 IP "))
        + &columns(|at, (src, dst), line| {
            format!("    {at} 0.00{at}000000 {src} → {dst} {line}\n")
        });
    prop::collection::vec(change, 0..40).prop_map(move |changes| {
        let mut bytes = both.clone().into_bytes();
        for (at, byte, kind) in changes {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => {
                    bytes.remove(at);
                }
                _ => bytes[at] = b"0123456789 .:,[]{}<>\"\n"[usize::from(byte) % 22],
            }
        }
        // What is read as a list begins with a line that is one.
        [list(|_| "17:06:26 IP ".to_owned()).as_bytes(), &bytes].concat()
    })
}

proptest! {
    #[test]
    fn changed_lines_never_break_a_reader(text in mutated()) {
        let told = read(&text);
        prop_assert!(told.packets.len() >= LINES.len());
        // One line makes one packet at most.
        let lines = text.split(|&byte| byte == b'\n').count();
        prop_assert!(told.packets.len() + told.skipped.len() <= lines);
    }

    #[test]
    fn random_text_behind_a_list_never_breaks_a_reader(
        more in prop::collection::vec("([0-9]{1,3}[.:> ,\"]{0,2}|[ -~]{0,9}|Flags \\[|seq |IP |\n){0,60}", 0..8),
        bytes in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let mut text = list(|_| "17:06:26 IP ".to_owned()).into_bytes();
        text.extend(more.concat().bytes().chain(bytes));
        prop_assert!(read(&text).packets.len() >= LINES.len() - 1);
    }

    #[test]
    fn lists_of_any_kind_may_be_mixed(
        lines in prop::collection::vec(
            (prop::sample::select(&TIMES[..]), 0..12_usize, any::<prop::sample::Index>(), "[0-9]{1,20}"),
            1..60,
        ),
    ) {
        let mut text = list(|_| "17:06:26 IP ".to_owned());
        let row = |_, (src, dst): (&str, &str), line: &str| format!("{src} → {dst} {line}\n");
        let both = list(|_| "IP ".to_owned()) + &columns(row);
        let both: Vec<&str> = both.lines().collect();
        for (time, at, place, number) in lines {
            // Another number somewhere.
            let line = both[at];
            let numbers: Vec<_> = line.match_indices(|c: char| c.is_ascii_digit()).collect();
            let (from, _) = numbers[place.index(numbers.len())];
            let rest = line[from..].trim_start_matches(|c: char| c.is_ascii_digit());
            text += &format!("{time} {}{number}{rest}\n", &line[..from]);
        }
        let told = read(&text);
        prop_assert!(told.packets.len() + told.skipped.len() <= text.lines().count());
    }
}
