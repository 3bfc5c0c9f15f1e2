"""One self-contained page: what was found, as columns, with the programs that show it.

`part` says what a page is made of; `of_trace`, `of_run`, `of_diff` and `of_agreement` make parts;
`columns` packs tables; `assemble` writes the file; `assets` has what the browser runs.
"""
