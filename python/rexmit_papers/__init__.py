"""What papers print and claim, beside what runs and traces show. A folder a paper has what it
prints (`paper`), its tables, figures and claims.

A package of its own: it knows `rexmit`, which knows nothing of it but what `adds` adds.
"""
