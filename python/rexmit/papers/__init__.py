"""What papers say, set beside what runs and traces show. A paper is named by author or place, and
year; all of it stands in one folder: what it prints (`paper`), its tables, figures and claims.
"""
