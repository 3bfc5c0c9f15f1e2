"""One self-contained page: what was found, as columns, with the programs that show it.

`part` says what a page is made of; `of_trace`, `of_traces`, `of_run` and `of_diff` make parts;
`columns` packs tables; `assemble` writes the file; `assets` has what the browser runs.
"""
