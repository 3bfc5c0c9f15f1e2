use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::*;

fn bytes(option: &MptcpOption<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    option.write(&mut out);
    out
}

fn read(bytes: &[u8]) -> Option<MptcpOption<'_>> {
    assert_eq!((bytes[0], usize::from(bytes[1])), (KIND, bytes.len()));
    MptcpOption::parse(&bytes[2..])
}

/// A SYN-ACK of Linux 6.1: version 1, no checksums (flag A clear), HMAC-SHA256 (H).
#[test]
fn reads_the_capable_of_a_syn_ack() {
    let wire = [30, 12, 0x01, 0x01, 1, 2, 3, 4, 5, 6, 7, 8];
    let want = Capable {
        version: 1,
        flags: 1,
        sender_key: Some(0x0102_0304_0506_0708),
        ..Capable::default()
    };
    assert_eq!(read(&wire), Some(MptcpOption::Capable(want)));
}

/// The DSS of a full segment of Linux 6.1: an acknowledgement of four bytes, a sequence number of eight.
#[test]
fn reads_a_mapping_with_numbers_of_both_widths() {
    let wire = [
        30, 22, 0x20, 0x0d, 0, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1, 0x05, 0x98,
    ];
    let want = Dss {
        fin: false,
        data_ack: Some(DataNumber::Low(9)),
        mapping: Some(Mapping {
            data_seq: DataNumber::Full(0x0102_0304_0506_0708),
            subflow_seq: 1,
            len: 1432,
            checksum: None,
        }),
    };
    assert_eq!(read(&wire), Some(MptcpOption::Dss(want)));
}

#[test]
fn lengths_that_no_form_has_are_none() {
    for wire in [
        &[30, 2][..],
        &[30, 3, 0x00],
        &[30, 5, 0x01, 0, 0],
        &[30, 4, 0x20, 0x01],
        &[30, 5, 0x20, 0x00, 0],
        &[30, 4, 0x10, 0],
        &[30, 3, 0x40],
        &[30, 5, 0x50, 0, 0],
        &[30, 8, 0x36, 1, 10, 0, 0, 1],
    ] {
        assert_eq!(read(wire), None, "{wire:?}");
    }
}

/// RFC 6234's vectors have no eight-byte message: these are of `printf '\1\2\3\4\5\6\7\10' | sha1sum` and `sha256sum`.
#[test]
fn keys_hash_to_tokens_and_first_numbers() {
    let key = 0x0102_0304_0506_0708;
    let v0 = Identity::of(key, Version::V0);
    assert_eq!((v0.token, v0.idsn), (0xdd57_83bc, 0x3a95_ed6e_4ebb_4ad5));
    let v1 = Identity::of(key, Version::V1);
    assert_eq!((v1.token, v1.idsn), (0x6684_0dda, 0xf5a1_01d3_d29d_6f72));
}

#[test]
fn numbers_count_from_the_first_byte_across_both_wraps() {
    for idsn in [0, 5, u64::MAX, u64::MAX - 3, 0xffff_fffe, 0x1_ffff_fff0] {
        let mut numbers = Numbers::after(idsn);
        let first = idsn.wrapping_add(1);
        assert_eq!(numbers.place(DataNumber::Full(first)), 0);
        let mut at = first;
        for step in 1..40u64 {
            at = at.wrapping_add(0x1000_0000);
            assert_eq!(
                numbers.place(DataNumber::Low(at as u32)),
                (step * 0x1000_0000) as i64
            );
        }
        assert_eq!(numbers.place(DataNumber::Full(idsn)), -1);
    }
}

fn number() -> impl Strategy<Value = DataNumber> {
    prop_oneof![
        any::<u32>().prop_map(DataNumber::Low),
        any::<u64>().prop_map(DataNumber::Full)
    ]
}

fn capable() -> impl Strategy<Value = Capable> {
    (
        0u8..16,
        any::<u8>(),
        0usize..5,
        any::<(u64, u64, u16, u16)>(),
    )
        .prop_map(
            |(version, flags, parts, (sender, receiver, len, sum))| Capable {
                version,
                flags,
                sender_key: (parts > 0).then_some(sender),
                receiver_key: (parts > 1).then_some(receiver),
                data_len: (parts > 2).then_some(len),
                checksum: (parts > 3).then_some(sum),
            },
        )
}

fn join() -> impl Strategy<Value = Join> {
    prop_oneof![
        any::<(bool, u8, u32, u32)>().prop_map(|(backup, address_id, token, nonce)| Join::Syn {
            backup,
            address_id,
            token,
            nonce
        }),
        any::<(bool, u8, u64, u32)>().prop_map(|(backup, address_id, hmac, nonce)| {
            Join::SynAck {
                backup,
                address_id,
                hmac,
                nonce,
            }
        }),
        any::<[u8; 20]>().prop_map(|hmac| Join::Ack { hmac }),
    ]
}

fn dss() -> impl Strategy<Value = Dss> {
    let checksum = proptest::option::of(any::<u16>());
    let mapping = (number(), any::<u32>(), any::<u16>(), checksum).prop_map(
        |(data_seq, subflow_seq, len, checksum)| Mapping {
            data_seq,
            subflow_seq,
            len,
            checksum,
        },
    );
    let parts = (
        any::<bool>(),
        proptest::option::of(number()),
        proptest::option::of(mapping),
    );
    parts.prop_map(|(fin, data_ack, mapping)| Dss {
        fin,
        data_ack,
        mapping,
    })
}

fn add_addr() -> impl Strategy<Value = AddAddr> {
    let address = prop_oneof![
        any::<[u8; 4]>().prop_map(|octets| IpAddr::V4(Ipv4Addr::from(octets))),
        any::<[u8; 16]>().prop_map(|octets| IpAddr::V6(Ipv6Addr::from(octets))),
    ];
    let port = proptest::option::of(any::<u16>());
    (
        0u8..2,
        any::<bool>(),
        any::<u8>(),
        address,
        port,
        any::<u64>(),
    )
        .prop_map(|(version, echo, address_id, address, port, hmac)| {
            let echo = echo && version == 1;
            AddAddr {
                version,
                echo,
                address_id,
                address,
                port,
                hmac: (version == 1 && !echo).then_some(hmac),
            }
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        capable in capable(),
        join in join(),
        dss in dss(),
        add in add_addr(),
        ids in proptest::collection::vec(any::<u8>(), 1..9),
        (backup, id, n, low, reason) in any::<(bool, Option<u8>, u64, u8, u8)>(),
    ) {
        for option in [
            MptcpOption::Capable(capable),
            MptcpOption::Join(join),
            MptcpOption::Dss(dss),
            MptcpOption::AddAddr(add),
            MptcpOption::RemoveAddr(&ids),
            MptcpOption::Prio { backup, address_id: id },
            MptcpOption::Fail { data_seq: n },
            MptcpOption::FastClose { key: n },
            MptcpOption::Reset { flags: low & 0xf, reason },
            MptcpOption::Other { subtype: 9 + low % 7, low: reason & 0xf, data: &ids },
        ] {
            let written = bytes(&option);
            prop_assert!(written.len() <= 40);
            prop_assert_eq!(read(&written), Some(option));
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic_and_written_alike(data in proptest::collection::vec(any::<u8>(), 0..38)) {
        if let Some(option) = MptcpOption::parse(&data) {
            let written = bytes(&option);
            // Bits that have no meaning are not kept; all else is.
            prop_assert_eq!(written.len(), data.len() + 2);
            prop_assert_eq!(MptcpOption::parse(&written[2..]), Some(option));
        }
    }

    #[test]
    fn a_low_half_stands_for_the_nearest_number(reference in any::<u64>(), offset in any::<i32>()) {
        let number = reference.wrapping_add_signed(i64::from(offset));
        prop_assert_eq!(DataNumber::Low(number as u32).near(reference), number);
        prop_assert_eq!(DataNumber::Full(number).near(reference), number);
    }
}
