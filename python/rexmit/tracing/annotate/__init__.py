"""A capture as pcapng in which every retransmission, and what caused it, has a comment.

The packets are read three times: analysed, looked through for the frames that rows are about
(`places`), and copied (`write`). `words` has the comments, `colours` the rules by which Wireshark
colours them.
"""
