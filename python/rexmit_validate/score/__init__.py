"""How often the analysis of captures is right: its answers beside a corpus' truth, and tshark's.

`corpus` opens a folder of captures whose retransmissions are known, `claims` and `tshark` bring
what an analysis says into one form, `join` finds each retransmission's claim, `count` counts,
`stacks` judges the senders that were named, `report` puts it together and `show_score` and
`as_json` show it.
"""
