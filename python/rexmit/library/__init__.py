"""What a program calls: `import rexmit` has all of it. The command line calls the same functions.

Nothing here prints or sees to signals. What a user can do something about is raised as
`rexmit.Error`, with the words that the command line prints.
"""
