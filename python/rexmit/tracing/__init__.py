"""What a capture tells: tables of connections, retransmissions and other settings, and a page.

`source` runs the analysis (`rexmit._core`), `folder` writes and opens its tables, `page` says in
words what a site engineer wants to know.
"""
