"""What is said of a result, once: sentences, labelled facts and tables, for whoever shows them.

`present.show` writes them on a terminal, `webpage.assemble` into a page; `plain` is their JSON.
"""
