"""What a capture tells: tables of connections, resends and other settings, a page, a study.

`source` runs the analysis (`rexmit._core`), `folder` writes and opens its tables, `page` says in
words what a site engineer wants to know, `study` makes the tables and figures of UNC 2007.
"""
